// Where an acquirer's report disagrees with the book: what is recorded, and what was done about it.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { usePart } from "../../../address.ts";
import { refresh, useAction } from "../../../api/action.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Identity } from "../../../ui/copy.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { Form, Submit, TextField, needed } from "../../../ui/form.tsx";
import { Page as Frame, Section } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { say } from "../../../ui/toast.tsx";
import { type Schema, read, write } from "../../api/client.ts";
import { useMay } from "../../api/rights.ts";
import { at } from "../../paths.ts";
import { BookNow } from "../decisions/effects.tsx";
import { PaymentFacts, RecordView } from "../payments/record.tsx";

const meanings: Record<Schema<"ExceptionKind">, string> = {
  refund_after_failure:
    "The acquirer carried out a refund that had failed here: payer and merchant both have the money.",
  refund_twice: "The acquirer carried out a refund twice, under two operation keys.",
  refund_undone: "A refund succeeded and failed afterwards: neither the payer nor the merchant has the money.",
  refund_elsewhere:
    "The acquirer returned money of this payment that nobody here asked it to return. Nothing is booked, and each such refund is reported only once. Compare the amounts in its dashboard with the refunds below, and tell the merchant, who still has the money here. To take the money out, record a dispute of that amount on the payment and decide it for the payer; if it was late money, return the receipt. Do not refund it here: the payer would get it twice.",
  other_money:
    "The acquirer reports money paid, or paid back, in another amount or currency than ordered, or in a form that cannot be counted. Nothing is booked, the payment continues unchanged, and this is reported only once. Its message is below, under “At the acquirer”. Ask it about the operation key: if it corrects its report, the next inquiry finds that within ten minutes. If the money really moved, have the acquirer return it, or arrange it with the merchant.",
  receipt: "Money was reported again with different details, or in an impossible amount.",
  forgotten: "The acquirer no longer knows a payment that it had taken.",
  dispute:
    "The acquirer reports a dispute that does not match what is recorded here, or a partial one without its amount; or it took money back that it had reported as paid. Nothing is booked, except that a dispute of more than is left of the payment holds what is left. Ask it for the amount, and record a dispute of that amount on the payment if it was paid and has none yet. Late money that still waits: return it.",
  evidence:
    "The acquirer did not accept the merchant's evidence: submit it on the acquirer's own pages, before the deadline.",
};

export function Page() {
  const uuid = usePart("uuid");
  const may = useMay();
  const exception = useQuery(read("/v1/reconciliation-exceptions/{uuid}", { path: { uuid } }));
  return (
    <Frame
      title="Disagreement"
      above={{ to: at.waitingFor("exception"), label: "Waiting" }}
      beside={<Identity id={uuid} what="its identity" />}
      curl={{ path: `/v1/reconciliation-exceptions/${uuid}` }}
    >
      <Answer of={exception}>
        {({ exception: one, record, book }) => (
          <>
            <p className="max-w-2xl">{meanings[one.kind]}</p>
            <Facts>
              <Fact name="Acquirer">{one.gateway_code}</Fact>
              <Fact name="Attempt">{one.attempt}</Fact>
              <Fact name="Noticed">
                <Time at={one.noticed_at} />
              </Fact>
              {one.occasions.length > 0 && <Fact name="About">{one.occasions.join(", ")}</Fact>}
              <Fact name="Closed">{one.closed_at === null ? "not yet" : <Time at={one.closed_at} />}</Fact>
            </Facts>
            {one.closed_at === null && may("admin") && <Close uuid={uuid} occasions={one.occasions} />}
            <Section title="The payment">
              <PaymentFacts of={record} />
            </Section>
            <Section title="The book now">
              <BookNow of={book} />
            </Section>
            <RecordView of={record} />
          </>
        )}
      </Answer>
    </Frame>
  );
}

function Close({ uuid, occasions }: { uuid: string; occasions: string[] }) {
  const queries = useQueryClient();
  const action = useAction(
    (note: string) =>
      write("POST", "/v1/reconciliation-exceptions/{uuid}/close", { path: { uuid }, body: { note, occasions } }).catch(
        (refused: unknown) => {
          // Another occasion came meanwhile: the page shows it beside the error that names it.
          void refresh(queries, ["/v1/reconciliation-exceptions"]);
          throw refused;
        },
      ),
    { done: () => say("The disagreement is closed.") },
  );
  return (
    <Section title="Close it">
      <Form values={{ note: "" }} action={action} onSubmit={({ note = "" }) => action.run(note)}>
        <TextField
          name="note"
          label="What was done about it"
          hint="Ask the acquirer about the operation key below, then write down the result."
          check={needed("A sentence")}
          lines={2}
        />
        <Submit>Close it</Submit>
      </Form>
    </Section>
  );
}
