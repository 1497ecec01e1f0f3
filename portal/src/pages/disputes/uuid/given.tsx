// What was submitted, or is gathered so far, for who can only read it.
import type { Schema } from "../../../api/types.ts";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { Section } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { KeptFile } from "./files.tsx";

export function Given({ evidence }: { evidence: Schema<"GatheredEvidence"> }) {
  const { uuid, statement, carrier, tracking_number: number, delivered_on: day, submitted_at: at, files } = evidence;
  if (statement === "" && files.length === 0)
    return (
      <Section title="Answer">
        <p className="text-muted">
          {evidence.can_change ? "Nobody has written anything yet." : "Nothing was submitted."}
        </p>
      </Section>
    );
  return (
    <Section title={at === null ? "Draft, not submitted" : "What you submitted"}>
      <div className="space-y-3">
        <blockquote className="rounded-md border border-line bg-panel px-4 py-3 break-words whitespace-pre-wrap">
          {statement}
        </blockquote>
        {(at !== null || carrier !== null || number !== null || day !== null) && (
          <Facts>
            {at !== null && (
              <Fact name="Submitted">
                <Time at={at} />
              </Fact>
            )}
            {carrier !== null && <Fact name="Carrier">{carrier}</Fact>}
            {number !== null && <Fact name="Tracking number">{number}</Fact>}
            {day !== null && <Fact name="Delivered on">{day}</Fact>}
          </Facts>
        )}
        {files.length > 0 && (
          <ul aria-label="Files" className="rounded-md border border-line bg-panel">
            {files.map((file) => (
              <KeptFile key={file.number} uuid={uuid} file={file} />
            ))}
          </ul>
        )}
      </div>
    </Section>
  );
}
