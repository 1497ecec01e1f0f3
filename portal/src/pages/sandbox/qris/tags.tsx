// The data objects of a code as a table: tag, what it is, the value, and what that means.
import type { Schema } from "../../../api/types.ts";

type QrisObject = Schema<"Qris">["objects"][number];
type Inner = NonNullable<QrisObject["objects"]>[number];

export function Tags({ objects }: { objects: readonly QrisObject[] }) {
  if (objects.length === 0) return null;
  return (
    <div
      tabIndex={0}
      role="region"
      aria-label="Tags"
      className="overflow-x-auto rounded-md border border-line bg-panel"
    >
      <table className="w-full border-collapse text-left">
        <thead className="border-b border-line text-xs text-muted">
          <tr>
            <th scope="col" className="px-3 py-2 pl-4 font-medium">
              Tag
            </th>
            <th scope="col" className="px-3 py-2 font-medium">
              What it is
            </th>
            <th scope="col" className="px-3 py-2 font-medium">
              Value
            </th>
          </tr>
        </thead>
        <tbody>
          {objects.flatMap((object, at) => [
            <Row key={`${at}`} object={object} isTemplate={object.objects !== null} />,
            ...(object.objects ?? []).map((inner, within) => <Row key={`${at}.${within}`} object={inner} isInner />),
          ])}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  object: Inner;
  isInner?: boolean;
  isTemplate?: boolean;
}

function Row({ object: { tag, name, value, meaning }, isInner = false, isTemplate = false }: RowProps) {
  return (
    <tr className="border-b border-line last:border-b-0">
      <th scope="row" className={`px-3 py-1.5 font-mono text-xs font-normal ${isInner ? "pl-9 text-muted" : "pl-4"}`}>
        {tag}
      </th>
      <td className={`px-3 py-1.5 ${isInner ? "text-muted" : ""}`}>{name}</td>
      <td className="px-3 py-1.5">
        {!isTemplate && <code className="font-mono text-xs break-all">{value}</code>}
        {meaning !== null && <span className="ml-2 text-muted">{meaning}</span>}
      </td>
    </tr>
  );
}
