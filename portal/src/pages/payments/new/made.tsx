// The payment that was just made: what the payer is shown, and in the sandbox the payer's part.
import { useQuery } from "@tanstack/react-query";
import { useAction } from "../../../api/action.ts";
import { useApi, useCan, usePlace } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { paths } from "../../../paths.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { Identity } from "../../../ui/copy.tsx";
import { ErrorNote } from "../../../ui/face.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { To } from "../../../ui/link.tsx";
import { Money } from "../../../ui/money.tsx";
import { Qr } from "../../../ui/qr.tsx";
import { Status } from "../../../ui/status.tsx";
import { say } from "../../../ui/toast.tsx";

type Instructions = NonNullable<Schema<"Payment">["instructions"]>;

/** Asks for the payment, so that what happens to it is seen here. */
export function MadePayment({ reference }: { reference: string }) {
  const api = useApi();
  const place = usePlace();
  const payment = useQuery(api.read("/v1/payments/{reference}", { path: { reference } }));
  return (
    <section aria-label="The payment" className="rounded-md border border-line bg-panel p-4">
      <Answer of={payment}>
        {(made) => (
          <div className="space-y-4">
            <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
              <h2 className="text-base font-semibold">
                <Money of={made} />
              </h2>
              <Status status={made.status} />
              <Identity id={made.reference} what="the reference" />
              {["pending", "processing"].includes(made.status) ? (
                <To to={paths.payment(place, made.reference)}>Open it</To>
              ) : (
                <ButtonLink to={paths.payment(place, made.reference)}>See what happened</ButtonLink>
              )}
            </div>
            {made.status === "pending" && made.instructions && <Shown instructions={made.instructions} />}
            {made.status === "pending" && !made.instructions ? (
              <p className="text-muted">
                Nobody can pay it yet: fraud detection holds it for review, or no acquirer has answered.
              </p>
            ) : (
              made.environment === "sandbox" && <PayersPart reference={reference} status={made.status} />
            )}
          </div>
        )}
      </Answer>
    </section>
  );
}

/** What the merchant shows the payer, by method. */
function Shown({ instructions }: { instructions: Instructions }) {
  if (instructions.type === "qr_string")
    return (
      <div className="flex flex-wrap items-start gap-4">
        <Qr text={instructions.value} label="The QRIS code of the payment" size={180} />
        <code className="max-w-md min-w-0 flex-1 font-mono text-xs break-all text-muted">{instructions.value}</code>
      </div>
    );
  if (instructions.type === "redirect")
    return (
      <p>
        The payer goes to{" "}
        <a className="link break-all" href={webAddress(instructions.value)} target="_blank" rel="noopener noreferrer">
          {instructions.value}
        </a>
      </p>
    );
  return (
    <Facts>
      <Fact name="Bank">{instructions.bank_name}</Fact>
      {typeof instructions.biller_code === "string" && (
        <Fact name="Company code, to enter first">
          <Identity id={instructions.biller_code} what="the company code" />
        </Fact>
      )}
      <Fact name={instructions.type === "va_number" ? "Virtual account" : "Account"}>
        <Identity id={instructions.account_number} what="the account number" />
      </Fact>
      <Fact name="In the name of">{instructions.account_name}</Fact>
      {instructions.type === "bank_account" && (
        <Fact name="In the transfer's message">
          <Identity id={instructions.transfer_code} what="the transfer code" />
        </Fact>
      )}
    </Facts>
  );
}

/** Whatever an acquirer sends is a web address or no link at all. */
function webAddress(text: string): string | undefined {
  return /^https?:\/\//i.test(text) ? text : undefined;
}

/** Pays, declines, or lets the acquirer process it. */
export function PayersPart({ reference, status }: { reference: string; status: string }) {
  const api = useApi();
  const can = useCan();
  const action = useAction(
    (outcome: "succeeded" | "failed" | "processing", intent) =>
      api.write(
        "POST",
        "/v1/sandbox/payments/{reference}/simulate",
        { path: { reference }, body: { outcome } },
        intent,
      ),
    { refresh: [""], done: (payment) => say(`The payment is ${payment.status}.`) },
  );
  if (!can("sandbox:write") || !["pending", "processing"].includes(status)) return null;
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap gap-2">
        <Button look="primary" pending={action.pending} onClick={() => action.run("succeeded")}>
          Pay it
        </Button>
        <Button pending={action.pending} onClick={() => action.run("failed")}>
          Let it fail
        </Button>
        {status === "pending" && (
          <Button pending={action.pending} onClick={() => action.run("processing")}>
            Let it process
          </Button>
        )}
      </div>
      {action.error && <ErrorNote error={action.error} />}
    </div>
  );
}
