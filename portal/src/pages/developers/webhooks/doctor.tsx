// The doctor: whether a webhook as a receiver got it verifies, and if not, why.
import { useAction } from "../../../api/action.ts";
import { useApi } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { Form, Submit, TextField, needed } from "../../../ui/form.tsx";
import { Section } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";

type Found = Schema<"DeliveryDiagnosis">;
interface Pasted {
  headers: Record<string, string>;
  body: string;
  computed_signature?: string;
}

/** Lines of `Name: value`, as servers print them; JSON is taken as well. */
function headersOf(text: string): Record<string, string> {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === "object" && parsed !== null)
      return Object.fromEntries(Object.entries(parsed).map(([name, value]) => [name, String(value)]));
  } catch {
    // lines, then
  }
  const lines = text.split("\n").map((line) => /^\s*([^:\s]+)\s*:\s*(.*?)\s*$/.exec(line));
  return Object.fromEntries(lines.flatMap((found) => (found ? [[found[1] ?? "", found[2] ?? ""]] : [])));
}

const headersNeeded = (text: string): string | undefined =>
  Object.keys(headersOf(text)).length > 0 ? undefined : "Paste the headers, one per line, as Name: value.";
const bodyNeeded = needed("The body");

export function Doctor() {
  const api = useApi();
  const ask = useAction((body: Pasted, intent) => api.write("POST", "/v1/sandbox/webhook/doctor", { body }, intent), {
    refresh: [],
  });
  return (
    <Section title="Why does it not verify?">
      <div className="max-w-2xl space-y-5">
        <p className="text-muted">Paste a delivery exactly as your receiver got it. It is not stored.</p>
        <Form
          values={{ headers: "", body: "", computed_signature: "" }}
          action={ask}
          onSubmit={({ headers = "", body = "", computed_signature: computed = "" }) =>
            ask.run({
              headers: headersOf(headers),
              body,
              ...(computed.trim() === "" ? {} : { computed_signature: computed.trim() }),
            })
          }
        >
          <TextField
            name="headers"
            label="Headers"
            lines={5}
            mono
            check={headersNeeded}
            placeholder="webhook-id: evt_…"
          />
          <TextField
            name="body"
            label="Raw body"
            lines={5}
            mono
            check={bodyNeeded}
            hint="Exactly as it arrived, not parsed and serialized again."
          />
          <TextField
            name="computed_signature"
            label="What your code computed"
            mono
            hint="If you have it, the answer also names the mistake behind it."
          />
          <Submit>Find out</Submit>
        </Form>
        {ask.result && <Verdict of={ask.result} />}
      </div>
    </Section>
  );
}

function Verdict({ of: { diagnosis, explanation, computed } }: { of: Found }) {
  return (
    <div role="status" className="space-y-2 rounded-md border border-line bg-panel px-4 py-3">
      <Status status={diagnosis} tone={diagnosis === "genuine" ? "good" : "bad"} />
      <p>{explanation}</p>
      {computed && (
        <p>
          <span className="font-medium">{computed.diagnosis.replaceAll("_", " ")}:</span> {computed.explanation}
        </p>
      )}
    </div>
  );
}
