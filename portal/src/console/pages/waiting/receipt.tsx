// Late money: what it may have been meant for, and where it goes: to the merchant, or back.
import { useQuery } from "@tanstack/react-query";
import { useGo, usePart } from "../../../address.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Identity } from "../../../ui/copy.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { Money } from "../../../ui/money.tsx";
import { Page as Frame, Section } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { type Schema, read, write } from "../../api/client.ts";
import { at } from "../../paths.ts";
import { Decision, askedIn } from "../decisions/decide.tsx";
import { BookNow } from "../decisions/effects.tsx";
import { InBook, RecordView } from "../payments/record.tsx";

type Receipt = Schema<"ReceiptRecord">;
type Candidate = Schema<"ReceiptCandidate">;

export function Page() {
  const uuid = usePart("uuid");
  const receipt = useQuery(read("/v1/receipts/{uuid}", { path: { uuid } }));
  return (
    <Frame
      title="Late money"
      lead="An acquirer reported money that matches no open payment. Find out whose it is, then decide where it goes."
      above={{ to: at.waitingFor("receipt"), label: "Waiting" }}
      beside={<Identity id={uuid} what="the receipt's identity" />}
      curl={{ path: `/v1/receipts/${uuid}` }}
    >
      <Answer of={receipt}>{(record) => <Whole of={record} />}</Answer>
    </Frame>
  );
}

function Whole({ of: { receipt, candidates, decisions, book, record } }: { of: Receipt }) {
  const go = useGo();
  const { uuid } = receipt;
  const exponent = book.exponent;
  const leave = async (answer: unknown): Promise<void> => {
    const asked = askedIn(answer);
    await go(asked ? at.approval(asked.uuid) : at.waitingFor("receipt"));
  };
  const of = (operation: string) => decisions.find((one) => one.operation === operation);
  const [credit, giveBack] = [of("creditReceipt"), of("returnReceipt")];
  return (
    <>
      <Facts>
        <Fact name="Amount">
          <Money of={{ ...receipt, exponent }} />
        </Fact>
        {receipt.acquirer_fee_minor !== null && (
          <Fact name="Kept by the acquirer">
            <Money of={{ ...receipt, amount_minor: receipt.acquirer_fee_minor, exponent }} />
          </Fact>
        )}
        <Fact name="Merchant">
          <InBook name={record.merchant.name} environment={record.merchant.environment} />
        </Fact>
        <Fact name="Acquirer">
          {receipt.gateway_code} <code className="font-mono text-xs break-all">{receipt.transaction_id}</code>
        </Fact>
        <Fact name="Came">
          <Time at={receipt.received_at} />
        </Fact>
      </Facts>
      <Section title="What it may have been meant for">
        <Table
          label="Candidates"
          list={{ data: { data: candidates, has_more: false, next_cursor: null } } as never}
          columns={columns}
          id={(one) => one.reference}
          to={(one) => at.payment(one.reference)}
          empty={<p className="text-muted">No payment of this merchant matches.</p>}
        />
      </Section>
      <Section title="Where it goes">
        <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-2">
          {credit && (
            <Decision
              of={credit}
              verb="Assign it to the merchant"
              look="primary"
              send={() => write("POST", "/v1/receipts/{uuid}/credit", { path: { uuid } })}
              done="The money is assigned to the merchant."
              onDone={leave}
            >
              <p>
                It goes into the merchant's available balance, in full. It does not mark any order as paid, and no
                webhook is sent: tell the merchant which order it was for.
              </p>
            </Decision>
          )}
          {giveBack && (
            <Decision
              of={giveBack}
              verb="Return it"
              look="danger"
              send={() => write("POST", "/v1/receipts/{uuid}/return", { path: { uuid } })}
              done="The money is recorded as returned."
              onDone={leave}
            >
              <p className="text-muted">First arrange with the acquirer that the payer gets it back.</p>
            </Decision>
          )}
        </div>
      </Section>
      <Section title="The book now">
        <BookNow of={book} />
      </Section>
      <RecordView of={record} />
    </>
  );
}

const columns: Column<Candidate>[] = [
  { head: "Merchant's reference", cell: ({ reference_id: id }) => <span className="break-all">{id}</span> },
  { head: "Status", cell: ({ status }) => <Status status={status} /> },
  { head: "Why", from: "wide", cell: ({ signs }) => signs.map((sign) => sign.replaceAll("_", " ")).join(", ") },
  { head: "Amount", align: "right", cell: (one) => <Money of={one} /> },
  { head: "Fits", align: "right", cell: ({ score }) => <span className="whitespace-nowrap">{score} %</span> },
];
