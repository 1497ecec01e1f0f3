// A batch whose payout waits: what the bank did, and what recording that does to the book.
import { useQuery } from "@tanstack/react-query";
import { useGo, usePart } from "../../../address.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Identity } from "../../../ui/copy.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { Money } from "../../../ui/money.tsx";
import { Page as Frame, Section } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { Day } from "../../../ui/time.tsx";
import { type Schema, read, write } from "../../api/client.ts";
import { at } from "../../paths.ts";
import { Decision, askedIn } from "../decisions/decide.tsx";
import { BookNow } from "../decisions/effects.tsx";
import { BankReference, noReference, paidBy, whenPaid } from "../settlements/bank-reference.tsx";

type Batch = Schema<"SettlementRecord">;

const names: Record<Batch["settlement"]["status"], string> = {
  processing: "To be paid",
  paid: "Paid",
  failed: "Returned by the bank",
};

export function Page() {
  const [id, environment, uuid] = [usePart("merchant"), usePart("environment") as "sandbox", usePart("uuid")];
  const path = { id, environment, uuid };
  const batch = useQuery(read("/v1/merchants/{id}/books/{environment}/settlements/{uuid}/record", { path }));
  return (
    <Frame
      title="Payout"
      lead="What the bank did with a batch, and what recording it does to the book."
      above={{ to: at.waiting(), label: "Waiting" }}
      beside={
        <>
          {batch.data && <Status status={batch.data.settlement.status} />}
          <Identity id={uuid} what="the batch's identity" />
        </>
      }
      curl={{ path: `/v1/merchants/${id}/books/${environment}/settlements/${uuid}/record` }}
    >
      <Answer of={batch}>{(record) => <Whole of={record} path={path} />}</Answer>
    </Frame>
  );
}

function Whole({ of, path }: { of: Batch; path: { id: string; environment: "sandbox"; uuid: string } }) {
  const { settlement, decisions, book } = of;
  const { currency, exponent } = settlement;
  const go = useGo();
  const money = (amount_minor: number) => <Money of={{ amount_minor, currency, exponent }} />;
  const [pay, giveBack] = decisions;
  const leave = async (answer: unknown): Promise<void> => {
    const asked = askedIn(answer);
    if (asked) await go(at.approval(asked.uuid));
  };
  return (
    <>
      <Facts>
        <Fact name="Merchant">{settlement.merchant_name}</Fact>
        <Fact name={names[settlement.status]}>{money(settlement.net_minor)}</Fact>
        {settlement.status === "processing" && (
          <Fact name="Due">
            <Day on={settlement.payout_date} />
          </Fact>
        )}
        <Fact name="Sales">{money(settlement.gross_minor)}</Fact>
        <Fact name="Fees">{money(0 - settlement.fee_minor)}</Fact>
        <Fact name="Refunds and lost disputes">{money(0 - settlement.refund_minor)}</Fact>
      </Facts>
      {settlement.status === "processing" && (
        <Section title="What the bank did">
          <p className="mb-2 text-muted">Check with the bank, then record what it did.</p>
          <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-2">
            {pay && (
              <Decision
                of={pay}
                verb="Record that it was paid"
                look="primary"
                values={noReference}
                send={(typed) =>
                  write("POST", "/v1/merchants/{id}/books/{environment}/settlements/{uuid}/pay", {
                    path,
                    body: paidBy(typed),
                  })
                }
                done="The payout is recorded."
                onDone={leave}
              >
                <p>{whenPaid}</p>
                <BankReference environment={path.environment} />
              </Decision>
            )}
            {giveBack && (
              <Decision
                of={giveBack}
                verb="Record that it came back"
                look="danger"
                send={() => write("POST", "/v1/merchants/{id}/books/{environment}/settlements/{uuid}/return", { path })}
                done="The batch is recorded as returned."
                onDone={leave}
              />
            )}
          </div>
        </Section>
      )}
      <Section title="The book now">
        <BookNow of={book} />
      </Section>
    </>
  );
}
