// What one can do with a payment: cancel it, refund it, and in the sandbox play its payer and its acquirer.
import { useState } from "react";
import { useCan, usePlace } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { beforePayer } from "./before-payer.ts";
import { CancelForm, ContestForm, RefundForm, SimulateForm } from "./forms.tsx";

type Payment = Schema<"PaymentWhole">;

const forms = {
  cancel: { title: "Cancel the payment?", Form: CancelForm },
  refund: { title: "Refund the payment", Form: RefundForm },
  simulate: { title: "Simulate the acquirer", Form: SimulateForm },
  contest: { title: "Contest it as the payer", Form: ContestForm },
};
type Name = keyof typeof forms;

export function PaymentActions({ of: payment }: { of: Payment }) {
  const place = usePlace();
  const can = useCan();
  const [open, setOpen] = useState<Name | undefined>(undefined);
  const { status, refundable_minor: refundable, contestable_minor: contestable } = payment;
  const plays = place.environment === "sandbox" && can("sandbox:write");
  const close = (): void => setOpen(undefined);
  const chosen = open && forms[open];
  return (
    <>
      {plays && contestable > 0 && <Button onClick={() => setOpen("contest")}>Contest as payer</Button>}
      {status === "pending" && can("payments:write") && (
        <Button look="danger" onClick={() => setOpen("cancel")}>
          Cancel
        </Button>
      )}
      {refundable > 0 && can("refunds:write") && <Button onClick={() => setOpen("refund")}>Refund</Button>}
      {plays && (status === "processing" || (status === "pending" && beforePayer(payment) === undefined)) && (
        <Button look="primary" onClick={() => setOpen("simulate")}>
          Simulate
        </Button>
      )}
      {chosen && (
        <Dialog open onClose={close} title={chosen.title}>
          <chosen.Form of={payment} onDone={close} />
        </Dialog>
      )}
    </>
  );
}
