// The name of a ledger account: in a narrow column it breaks behind its colons before it breaks within a word.
import { Fragment } from "react";

export function AccountName({ name }: { name: string }) {
  return name.split(":").map((part, at) => (
    <Fragment key={at}>
      {at > 0 && (
        <>
          :<wbr />
        </>
      )}
      {part}
    </Fragment>
  ));
}
