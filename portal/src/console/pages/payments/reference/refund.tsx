// Refunding a payment for its merchant: with a reason, once, and by two operators where the policy wants it.
import { useGo } from "../../../../address.ts";
import { useAction } from "../../../../api/action.ts";
import { Button } from "../../../../ui/button.tsx";
import { Dialog } from "../../../../ui/dialog.tsx";
import { Form, Submit, TextField, needed } from "../../../../ui/form.tsx";
import { Money, digitsOf, minorOf } from "../../../../ui/money.tsx";
import { useLanguage } from "../../../../words.ts";
import { type Schema, write } from "../../../api/client.ts";
import { at } from "../../../paths.ts";
import { askedIn, showOutcome } from "../../decisions/decide.tsx";

interface Props {
  of: Schema<"PaymentRecord">;
  close: () => void;
}

export function Refund({ of: { payment, merchant }, close }: Props) {
  const { reference, currency, exponent, refundable_minor: most } = payment;
  const go = useGo();
  const language = useLanguage();
  const refund = useAction((body: { amount_minor: number; reason: string }, intent) =>
    write("POST", "/v1/payments/{reference}/refunds", { path: { reference }, body }, intent),
  );
  const check = (typed: string): string | undefined => {
    const minor = minorOf(typed, exponent, language);
    if (minor === undefined || minor === 0)
      return `An amount in ${currency} is needed, like ${digitsOf(most, exponent, language)}.`;
    // What got no answer may be why less can be refunded: sent again, it is answered.
    return minor > most && !refund.pending && !refund.error?.isOutcomeUnknown
      ? `At most ${currency} ${digitsOf(most, exponent, language)} can still be refunded.`
      : undefined;
  };
  const submit = async ({ amount_minor: typed = "", reason = "" }: Record<string, string>): Promise<void> => {
    const minor = minorOf(typed, exponent, language);
    if (minor === undefined) return;
    const answer = await refund.run({ amount_minor: minor, reason: reason.trim() });
    if (answer === undefined) return;
    close();
    showOutcome(answer, "The refund was accepted.");
    const asked = askedIn(answer);
    if (asked) await go(at.approval(asked.uuid));
  };
  return (
    <Dialog open onClose={close} title={`Refund for ${merchant.name}`}>
      <Form values={{ amount_minor: digitsOf(most, exponent, language), reason: "" }} action={refund} onSubmit={submit}>
        <p>
          <Money of={{ amount_minor: most, currency, exponent }} /> of this payment can still go back to the payer. It
          is taken from the merchant's available balance; the fee is not returned. A refund cannot be taken back.
        </p>
        <TextField name="amount_minor" label={`Amount in ${currency}`} inputMode="decimal" check={check} />
        <TextField
          name="reason"
          label="Reason"
          hint="The merchant sees it with the refund. It cannot be changed later."
          check={needed("A reason")}
        />
        <Submit beside={<Button onClick={close}>Back</Button>}>Refund</Submit>
      </Form>
    </Dialog>
  );
}
