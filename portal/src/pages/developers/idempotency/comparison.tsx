// A conflict beside the request that the key is bound to: what is different, field by field, and both bodies.
import type { Schema } from "../../../api/types.ts";
import { Section } from "../../../ui/page.tsx";
import { BodySection } from "../requests/bodies.tsx";
import { type Difference, differences } from "./differences.ts";

type Use = Schema<"IdempotencyKeyUse">;

export function Comparison({ first, conflict }: { first: Use; conflict: Use }) {
  return (
    <Section title="What the conflict changed">
      <Said first={first} conflict={conflict} />
      <div className="mt-3 grid gap-6 lg:grid-cols-2">
        <BodySection title="First request" body={first.request} />
        <BodySection title="Conflicting request" body={conflict.request} />
      </div>
    </Section>
  );
}

function Said({ first, conflict }: { first: Use; conflict: Use }) {
  const [before, after] = [`${first.method} ${first.path}`, `${conflict.method} ${conflict.path}`];
  if (before !== after)
    return (
      <p>
        The key is bound to <code className="font-mono text-xs">{before}</code> and was sent to{" "}
        <code className="font-mono text-xs">{after}</code>. Use a new key for another intent.
      </p>
    );
  const found = differences(first.request.text, conflict.request.text);
  if (found === undefined) return <p>One of the bodies is not kept, so they cannot be compared here.</p>;
  if (found.length === 0)
    return (
      <p>
        Both say the same, but their bytes differ: in white space, the order of fields, the way a number is written, or
        something that is not kept. Send exactly the bytes of the first request again.
      </p>
    );
  return (
    <ul className="space-y-1">
      {found.map((one) => (
        <Changed key={one.field} of={one} />
      ))}
    </ul>
  );
}

function Changed({ of: { field, before, after } }: { of: Difference }) {
  return (
    <li className="font-mono text-xs break-all">
      {field}: <del className="text-bad">{before ?? "(absent)"}</del> →{" "}
      <ins className="text-good">{after ?? "(absent)"}</ins>
    </li>
  );
}
