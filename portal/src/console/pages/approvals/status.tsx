// How an approval stands, in a colour that says who has to do something.
import { Status } from "../../../ui/status.tsx";
import type { Schema } from "../../api/client.ts";

const tones = {
  waiting: "warn",
  executing: "warn",
  executed: "good",
  failed: "bad",
  unknown: "bad",
  refused: "calm",
  withdrawn: "calm",
  expired: "calm",
} as const;

export function ApprovalStatus({ status }: { status: Schema<"ApprovalStatus"> }) {
  return <Status status={status} tone={tones[status]} />;
}
