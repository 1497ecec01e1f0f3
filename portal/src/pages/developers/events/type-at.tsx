// An event's type in a row of a list. A narrow table has no room for the column of the time, and shows it below.
import { Time } from "../../../ui/time.tsx";

export function TypeAt({ type, at }: { type: string; at: string }) {
  return (
    <span>
      <code className="font-mono text-xs">{type}</code>
      <span className="block text-xs font-normal text-muted roomy:hidden">
        <Time at={at} />
      </span>
    </span>
  );
}
