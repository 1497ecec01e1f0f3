// One payment of anybody's: its record, and giving it back for its merchant.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useGo, usePart } from "../../../address.ts";
import { useAction } from "../../../api/action.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Button } from "../../../ui/button.tsx";
import { Identity } from "../../../ui/copy.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form, Submit, TextField, needed } from "../../../ui/form.tsx";
import { Money, digitsOf, minorOf } from "../../../ui/money.tsx";
import { Page as Frame, Section } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { read, write } from "../../api/client.ts";
import { useMay } from "../../api/rights.ts";
import { at } from "../../paths.ts";
import { askedIn, tellOutcome } from "../decisions/decide.tsx";
import { PaymentFacts, type Record, RecordView, RiskSeen } from "./record.tsx";

export function Page() {
  const reference = usePart("reference");
  const may = useMay();
  const record = useQuery(read("/v1/payments/{reference}", { path: { reference } }));
  const [isRefunding, setRefunding] = useState(false);
  const payment = record.data?.payment;
  return (
    <Frame
      title="Payment"
      above={{ to: at.home(), label: "Home" }}
      beside={
        <>
          {payment && <Status status={payment.status} />}
          <Identity id={reference} what="the payment's reference" />
        </>
      }
      actions={
        payment &&
        payment.refundable_minor > 0 &&
        may("admin") && <Button onClick={() => setRefunding(true)}>Refund…</Button>
      }
      curl={{ path: `/v1/payments/${reference}` }}
    >
      <Answer of={record}>
        {(one) => (
          <>
            <PaymentFacts of={one} />
            <RecordView of={one} />
            <Section title="What fraud detection saw">
              <RiskSeen of={one.risk} />
            </Section>
          </>
        )}
      </Answer>
      {isRefunding && payment && <Refund of={payment} close={() => setRefunding(false)} />}
    </Frame>
  );
}

function Refund({ of: payment, close }: { of: Record["payment"]; close: () => void }) {
  const { reference, currency, exponent, refundable_minor: most } = payment;
  const go = useGo();
  const action = useAction(
    (body: { amount_minor: number; reason: string }, intent) =>
      write("POST", "/v1/payments/{reference}/refunds", { path: { reference }, body }, intent),
    {
      done: async (answer) => {
        close();
        tellOutcome(answer, "The refund was accepted.");
        const asked = askedIn(answer);
        if (asked) await go(at.approval(asked.uuid));
      },
    },
  );
  const check = (typed: string): string | undefined => {
    const minor = minorOf(typed, exponent);
    if (minor === undefined || minor === 0)
      return `An amount in ${currency} is needed, like ${digitsOf(most, exponent)}.`;
    return minor > most ? `At most ${currency} ${digitsOf(most, exponent)} can still be refunded.` : undefined;
  };
  return (
    <Dialog open onClose={close} title="Refund for the merchant">
      <Form
        values={{ amount_minor: digitsOf(most, exponent), reason: "" }}
        action={action}
        onSubmit={({ amount_minor: typed = "", reason = "" }) => {
          const minor = minorOf(typed, exponent);
          return minor === undefined ? undefined : action.run({ amount_minor: minor, reason });
        }}
      >
        <p>
          <Money of={{ amount_minor: most, currency, exponent }} /> can still go back to the payer, out of what the
          merchant has.
        </p>
        <TextField name="amount_minor" label={`Amount in ${currency}`} inputMode="decimal" check={check} />
        <TextField
          name="reason"
          label="Reason"
          hint="The merchant sees it, and nobody can change it."
          check={needed("A reason")}
        />
        <Submit beside={<Button onClick={close}>Back</Button>}>Refund</Submit>
      </Form>
    </Dialog>
  );
}
