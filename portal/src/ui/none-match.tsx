// The empty page of a list with filters: how to find more, or the way on where the service has not looked at everything.
import { Button } from "./button.tsx";
import { Empty } from "./empty.tsx";
import type { Cursor, ListOf } from "./list.ts";

/** `what` names one row: "event". */
export function NoneMatch({ what, of, cursor }: { what: string; of: ListOf<unknown> | undefined; cursor: Cursor }) {
  const next = of?.next_cursor ?? undefined;
  return (
    <Empty title={`No ${what} matches`}>
      {next === undefined ? (
        "Change the filters, or clear them."
      ) : (
        <Button onClick={() => cursor.older(next)}>Search further back</Button>
      )}
    </Empty>
  );
}
