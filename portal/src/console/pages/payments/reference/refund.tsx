// Refunding a payment for its merchant: with a reason, once, and by two operators where the policy wants it.
import { useAction } from "../../../../api/action.ts";
import { Button, ButtonLink } from "../../../../ui/button.tsx";
import { Dialog } from "../../../../ui/dialog.tsx";
import { Form, Submit, TextField, needed } from "../../../../ui/form.tsx";
import { Money, digitsOf, minorOf } from "../../../../ui/money.tsx";
import { TimeFromNow } from "../../../../ui/time.tsx";
import { say } from "../../../../ui/toast.tsx";
import { type Schema, write } from "../../../api/client.ts";
import { pageOf } from "../../../found.ts";

interface Props {
  of: Schema<"PaymentRecord">;
  close: () => void;
}

export function Refund({ of: { payment, merchant }, close }: Props) {
  const { reference, currency, exponent, refundable_minor: most } = payment;
  const refund = useAction((body: { amount_minor: number; reason: string }, intent) =>
    write("POST", "/v1/payments/{reference}/refunds", { path: { reference }, body }, intent),
  );
  const check = (typed: string): string | undefined => {
    const minor = minorOf(typed, exponent);
    if (minor === undefined || minor === 0)
      return `An amount in ${currency} is needed, like ${digitsOf(most, exponent)}.`;
    return minor > most ? `At most ${currency} ${digitsOf(most, exponent)} can still be refunded.` : undefined;
  };
  const submit = async ({ amount_minor: typed = "", reason = "" }: Record<string, string>): Promise<void> => {
    const minor = minorOf(typed, exponent);
    if (minor === undefined) return;
    const answer = await refund.run({ amount_minor: minor, reason: reason.trim() });
    if (answer === undefined || "approval" in answer) return;
    say(answer.status === "succeeded" ? "The money is back with the payer." : "The refund was accepted.");
    close();
  };
  const asked = refund.result && "approval" in refund.result ? refund.result.approval : undefined;
  if (asked) return <Asked of={asked} close={close} />;
  return (
    <Dialog open onClose={close} title={`Refund for ${merchant.name}`}>
      <Form values={{ amount_minor: digitsOf(most, exponent), reason: "" }} action={refund} onSubmit={submit}>
        <p>
          <Money of={{ amount_minor: most, currency, exponent }} /> of this payment can still go back to the payer. It
          leaves what the merchant has available; the fee stays.
        </p>
        <TextField name="amount_minor" label={`Amount in ${currency}`} inputMode="decimal" check={check} />
        <TextField
          name="reason"
          label="Reason"
          hint="The merchant sees it with the refund, and nobody can change it."
          check={needed("A reason")}
        />
        <Submit beside={<Button onClick={close}>Back</Button>}>Refund</Submit>
      </Form>
    </Dialog>
  );
}

/** Nothing was done yet: it waits for somebody else. */
function Asked({ of: approval, close }: { of: Schema<"Approval">; close: () => void }) {
  const page = pageOf({ kind: "approval", id: approval.uuid });
  return (
    <Dialog open onClose={close} title="A second operator has to approve it">
      <div className="space-y-4">
        <p>Nothing has moved yet. Another operator with the role {approval.least_role} has to approve this:</p>
        <p className="rounded border border-line px-3 py-2 wrap-anywhere">{approval.summary}</p>
        <p className="text-muted">
          What nobody approves lapses <TimeFromNow at={approval.expires_at} />.
        </p>
        <div className="flex flex-wrap gap-2">
          {page !== undefined && <ButtonLink to={page}>See the approval</ButtonLink>}
          <Button onClick={close}>Done</Button>
        </div>
      </div>
    </Dialog>
  );
}
