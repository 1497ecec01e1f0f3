// Recording that a payment is contested: the acquirer said so on another way than by its notification.
import { useGo } from "../../../../address.ts";
import { useAction } from "../../../../api/action.ts";
import { Button } from "../../../../ui/button.tsx";
import { Dialog } from "../../../../ui/dialog.tsx";
import { Form, SelectField, Submit, TextField } from "../../../../ui/form.tsx";
import { Money, digitsOf, minorOf } from "../../../../ui/money.tsx";
import { useLanguage } from "../../../../words.ts";
import { type Schema, write } from "../../../api/client.ts";
import { at } from "../../../paths.ts";
import { showOutcome } from "../../decisions/decide.tsx";

interface Props {
  of: Schema<"PaymentRecord">;
  close: () => void;
}

const reasons: readonly Schema<"DisputeReason">[] = [
  "product_not_received",
  "product_unacceptable",
  "fraudulent",
  "duplicate",
  "credit_not_processed",
  "general",
];

export function Contest({ of: { payment, merchant }, close }: Props) {
  const { reference, currency, exponent, contestable_minor: most } = payment;
  const { merchant_id: id, environment } = merchant;
  const go = useGo();
  const language = useLanguage();
  const action = useAction(
    (body: Schema<"RecordDispute">) =>
      write("POST", "/v1/merchants/{id}/books/{environment}/disputes", { path: { id, environment }, body }),
    {
      done: async (answer) => {
        showOutcome(answer, "The dispute is recorded, and the merchant is notified.");
        await go("approval" in answer ? at.approval(answer.approval.uuid) : at.dispute(id, environment, answer.uuid));
      },
    },
  );
  const check = (typed: string): string | undefined => {
    const minor = minorOf(typed, exponent, language);
    return minor === undefined || minor === 0 || minor > most
      ? `An amount in ${currency} is needed, at most ${digitsOf(most, exponent, language)}.`
      : undefined;
  };
  return (
    <Dialog open onClose={close} title="Record a dispute">
      <Form
        values={{ reason: "general", amount_minor: digitsOf(most, exponent, language) }}
        action={action}
        onSubmit={({ reason, amount_minor: typed = "" }) => {
          const minor = minorOf(typed, exponent, language);
          return (
            minor !== undefined &&
            action.run({
              payment_reference: reference,
              reason: reasons.find((one) => one === reason) ?? "general",
              amount_minor: minor,
            })
          );
        }}
      >
        <p>
          The payer contests the payment at their bank. Up to <Money of={{ amount_minor: most, currency, exponent }} />{" "}
          is held from what {merchant.name} has available until it is decided.
        </p>
        <SelectField
          name="reason"
          label="Reason"
          options={reasons.map((value) => ({ value, label: value.replaceAll("_", " ") }))}
        />
        <TextField name="amount_minor" label={`Amount in ${currency}`} inputMode="decimal" check={check} />
        <Submit beside={<Button onClick={close}>Back</Button>}>Record it</Submit>
      </Form>
    </Dialog>
  );
}
