// What is on record of a key, in a few words.
import type { Schema } from "../../../api/types.ts";
import { Status } from "../../../ui/status.tsx";

export function RecordStatus({ of }: { of: Schema<"IdempotencyRecord"> | null }) {
  if (of === null) return <span className="text-muted">nothing</span>;
  if (of.status === null) return <Status status="in_progress" />;
  return <Status status={`answered ${of.status}`} tone={of.status >= 400 ? "warn" : "good"} />;
}
