// In the sandbox the merchant plays the acquirer, too: decides a dispute.
import { useState } from "react";
import { useAction } from "../../../api/action.ts";
import { useApi } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { Button } from "../../../ui/button.tsx";
import { ErrorNote } from "../../../ui/face.tsx";
import { Section } from "../../../ui/page.tsx";

type Outcome = Schema<"DisputeOutcome">;

const outcomes: readonly { outcome: Outcome; verb: string }[] = [
  { outcome: "won", verb: "Decide for the merchant" },
  { outcome: "lost", verb: "Decide for the payer" },
  { outcome: "withdrawn", verb: "Let the payer withdraw" },
];

export function Decide({ uuid }: { uuid: string }) {
  const api = useApi();
  const [chosen, setChosen] = useState<Outcome | undefined>(undefined);
  const decided = useAction((outcome: Outcome, intent) =>
    api.write("POST", "/v1/sandbox/disputes/{uuid}/resolve", { path: { uuid }, body: { outcome } }, intent),
  );
  return (
    <Section title="Sandbox: decide as the acquirer">
      <div className="space-y-3 rounded-md border border-line bg-panel px-4 py-3">
        <p className="text-muted">
          With real money the acquirer decides. Here you do, whether anything was submitted or not.
        </p>
        <div className="flex flex-wrap gap-2">
          {outcomes.map(({ outcome, verb }) => (
            <Button
              key={outcome}
              pending={decided.pending && chosen === outcome}
              disabled={decided.pending}
              onClick={() => {
                setChosen(outcome);
                return decided.run(outcome);
              }}
            >
              {verb}
            </Button>
          ))}
        </div>
        {decided.error && <ErrorNote error={decided.error} />}
      </div>
    </Section>
  );
}
