// The forms of what moves a payment. Each is one intent: sent twice, it takes effect once.
import { useGo } from "../../../address.ts";
import { useAction } from "../../../api/action.ts";
import { useApi, usePlace } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { paths } from "../../../paths.ts";
import { Button } from "../../../ui/button.tsx";
import { Form, SelectField, Submit, TextField } from "../../../ui/form.tsx";
import { Money, digitsOf, minorOf } from "../../../ui/money.tsx";
import { say } from "../../../ui/toast.tsx";
import { useLanguage } from "../../../words.ts";

interface Props {
  of: Schema<"PaymentWhole">;
  onDone: () => void;
}

const given = (text: string | undefined): string | undefined => (text === "" ? undefined : text);

export function CancelForm({ of: payment, onDone }: Props) {
  const api = useApi();
  const { reference } = payment;
  const cancel = useAction((reason: string | undefined, intent) => {
    const body = reason === undefined ? {} : { reason };
    return api.write("POST", "/v1/payments/{reference}/cancel", { path: { reference }, body }, intent);
  });
  const submit = async ({ reason }: Record<string, string>): Promise<void> => {
    if ((await cancel.run(given(reason))) === undefined) return;
    say("The payment is canceled.");
    onDone();
  };
  return (
    <Form values={{ reason: "" }} action={cancel} onSubmit={submit}>
      <p>
        The payer is no longer asked for <Money of={payment} />, and a canceled payment stays canceled. Money that comes
        all the same, as from a card&apos;s page that is open already, waits until the operator of the gateway decides
        whether it is yours or goes back to the payer.
      </p>
      <TextField name="reason" label="Reason" hint="Optional. Kept with the payment." />
      <Submit look="danger" beside={<Button onClick={onDone}>Back</Button>}>
        Cancel the payment
      </Submit>
    </Form>
  );
}

export function RefundForm({ of: payment, onDone }: Props) {
  const api = useApi();
  const language = useLanguage();
  const { reference, currency, exponent, refundable_minor: most } = payment;
  const refund = useAction((wish: { amount_minor: number; reason: string | undefined }, intent) => {
    const { amount_minor, reason } = wish;
    const body = { payment_reference: reference, amount_minor, ...(reason === undefined ? {} : { reason }) };
    return api.write("POST", "/v1/refunds", { body }, intent);
  });
  const check = (typed: string): string | undefined => {
    const minor = minorOf(typed, exponent, language);
    if (minor === undefined || minor === 0)
      return `An amount in ${currency} is needed, like ${digitsOf(most, exponent, language)}.`;
    // What got no answer may be why less can be refunded: sent again, it is answered.
    return minor > most && !refund.pending && !refund.error?.isOutcomeUnknown
      ? `At most ${currency} ${digitsOf(most, exponent, language)} can still be refunded.`
      : undefined;
  };
  const submit = async ({ amount_minor: typed = "", reason }: Record<string, string>): Promise<void> => {
    const minor = minorOf(typed, exponent, language);
    if (minor === undefined) return;
    const made = await refund.run({ amount_minor: minor, reason: given(reason) });
    if (made === undefined) return;
    say(made.status === "succeeded" ? "The acquirer has sent the money back." : "The refund was accepted.");
    onDone();
  };
  return (
    <Form values={{ amount_minor: digitsOf(most, exponent, language), reason: "" }} action={refund} onSubmit={submit}>
      <p>
        <Money of={{ amount_minor: most, currency, exponent }} /> of this payment can still go back to the payer. It is
        taken from your available balance; the fee is not returned. A refund cannot be taken back.
      </p>
      <TextField name="amount_minor" label={`Amount in ${currency}`} inputMode="decimal" check={check} />
      <TextField name="reason" label="Reason" hint="Optional. Kept in the audit trail." />
      <Submit beside={<Button onClick={onDone}>Back</Button>}>Refund</Submit>
    </Form>
  );
}

type Outcome = "processing" | "succeeded" | "failed";

export function SimulateForm({ of: payment, onDone }: Props) {
  const api = useApi();
  const { reference, status } = payment;
  const simulate = useAction((outcome: Outcome, intent) =>
    api.write("POST", "/v1/sandbox/payments/{reference}/simulate", { path: { reference }, body: { outcome } }, intent),
  );
  const submit = async ({ outcome }: Record<string, string>): Promise<void> => {
    const after = await simulate.run(outcome as Outcome);
    if (after === undefined) return;
    say(`The payment is ${after.status}.`);
    onDone();
  };
  const outcomes = [
    { value: "succeeded", label: "succeeded: the payer paid" },
    { value: "failed", label: "failed: it cannot be paid" },
    ...(status === "pending" ? [{ value: "processing", label: "processing: the acquirer works on it" }] : []),
  ];
  return (
    <Form values={{ outcome: "succeeded" }} action={simulate} onSubmit={submit}>
      <p>
        In the sandbox nobody really pays. Choose what the acquirer reports; everything after that works as in
        production.
      </p>
      <SelectField name="outcome" label="Outcome" options={outcomes} />
      <Submit beside={<Button onClick={onDone}>Back</Button>}>Report it</Submit>
    </Form>
  );
}

const reasons = [
  "product_not_received",
  "product_unacceptable",
  "fraudulent",
  "duplicate",
  "credit_not_processed",
  "general",
] as const;

export function ContestForm({ of: payment, onDone }: Props) {
  const api = useApi();
  const place = usePlace();
  const go = useGo();
  const { reference, currency, exponent, contestable_minor: most } = payment;
  const contest = useAction((reason: (typeof reasons)[number], intent) =>
    api.write("POST", "/v1/sandbox/payments/{reference}/dispute", { path: { reference }, body: { reason } }, intent),
  );
  const submit = async ({ reason }: Record<string, string>): Promise<void> => {
    const opened = await contest.run(reason as (typeof reasons)[number]);
    if (opened === undefined) return;
    say("The payer has contested the payment. Answer here.");
    await go(paths.dispute(place, opened.uuid));
  };
  return (
    <Form values={{ reason: "product_not_received" }} action={contest} onSubmit={submit}>
      <p>
        A dispute holds <Money of={{ amount_minor: most, currency, exponent }} /> until it is decided.
      </p>
      <SelectField
        name="reason"
        label="Reason"
        options={reasons.map((value) => ({ value, label: value.replaceAll("_", " ") }))}
      />
      <Submit beside={<Button onClick={onDone}>Back</Button>}>Open the dispute</Submit>
    </Form>
  );
}
