// The name of a ledger account: in a narrow column it breaks behind its colons before it breaks within a word.
import { Fragment } from "react";

export function AccountName({ name }: { name: string }) {
  const [first, ...rest] = name.split(":");
  return (
    <span>
      {first}
      {rest.map((part, at) => (
        <Fragment key={at}>
          :<wbr />
          {part}
        </Fragment>
      ))}
    </span>
  );
}
