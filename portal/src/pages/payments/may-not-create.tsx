// For whoever may not ask payers for money: payments and payment links take the same right.
import { usePlace } from "../../api/place.ts";
import { paths } from "../../paths.ts";
import { Empty } from "../../ui/empty.tsx";
import { To } from "../../ui/link.tsx";

/** `what`: "payments". */
export function MayNotCreate({ what }: { what: string }) {
  const place = usePlace();
  return (
    <Empty title={`Your role cannot create ${what} here`}>
      Owners and support can, and developers can in the sandbox. Ask an owner on the{" "}
      <To to={paths.team(place)}>team page</To>.
    </Empty>
  );
}
