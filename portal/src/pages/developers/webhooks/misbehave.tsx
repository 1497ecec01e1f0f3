// Misbehaving on purpose: what the sandbox's webhooks do wrong, so that a receiver meets it before production.
import { useQuery } from "@tanstack/react-query";
import { useAction } from "../../../api/action.ts";
import { useApi } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Button } from "../../../ui/button.tsx";
import { Form, SelectField, Submit, TextField } from "../../../ui/form.tsx";
import { Section } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { say } from "../../../ui/toast.tsx";

type Fault = Schema<"FaultInjection">;
type Mode = Fault["mode"];

const meanings: Record<Exclude<Mode, "none">, string> = {
  duplicate: "each is sent twice at the same time",
  reorder: "each is held back 3 s, and later ones overtake it",
  delay: "each is held back 5 s",
  drop: "nothing is sent; it counts as a failure",
  stale_timestamp: "the timestamp is ten minutes old",
  wrong_signature: "signed with another secret",
  unknown_type: "an event of an unknown type comes first",
  byte_order: "the fields of the JSON come in another order",
  slow_body: "the body arrives in pieces within 3 s",
};
const options = Object.entries(meanings).map(([value, meaning]) => ({
  value,
  label: `${value.replaceAll("_", " ")}: ${meaning}`,
}));

const countCheck = (value: string): string | undefined =>
  value === "" || /^([1-9]\d{0,2}|1000)$/.test(value)
    ? undefined
    : "Enter a number from 1 to 1,000, or leave it empty.";

export function Misbehave() {
  const api = useApi();
  const fault = useQuery({ ...api.read("/v1/sandbox/webhook/misbehave"), refetchInterval: 3_000 });
  const put = useAction(
    (body: { mode: Mode; for_next?: number }, intent) =>
      api.write("PUT", "/v1/sandbox/webhook/misbehave", { body }, intent),
    {
      refresh: ["/v1/sandbox/webhook"],
      done: ({ mode }) => say(mode === "none" ? "Deliveries are sent as usual." : "It is switched on."),
    },
  );
  return (
    <Section title="Misbehave on purpose">
      <Answer of={fault}>
        {(now) => (
          <div className="max-w-xl space-y-5">
            <Now of={now} onStop={() => put.run({ mode: "none" })} />
            <Form
              values={{ mode: "duplicate", for_next: "3" }}
              action={put}
              onSubmit={({ mode, for_next: count }) =>
                put.run({ mode: mode as Mode, ...(count ? { for_next: Number(count) } : {}) })
              }
            >
              <SelectField name="mode" label="What goes wrong" options={options} />
              <TextField
                name="for_next"
                label="For so many attempts"
                inputMode="numeric"
                check={countCheck}
                hint="Empty: until you switch it off."
              />
              <Submit>Misbehave</Submit>
            </Form>
          </div>
        )}
      </Answer>
    </Section>
  );
}

function Now({ of: { mode, for_next: left }, onStop }: { of: Fault; onStop: () => unknown }) {
  if (mode === "none") return <p className="text-muted">Deliveries are sent as usual.</p>;
  return (
    <p className="flex flex-wrap items-center gap-3">
      <Status status={mode} tone="warn" />
      <span>
        {meanings[mode]}
        {left === null ? ", until you switch it off" : `, for ${left} more ${left === 1 ? "attempt" : "attempts"}`}
      </span>
      <Button onClick={onStop}>Switch it off</Button>
    </p>
  );
}
