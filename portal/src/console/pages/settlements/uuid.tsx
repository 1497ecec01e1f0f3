// One settlement: what it adds up to, its statement to take along, and what the bank said about it.
import { useQuery } from "@tanstack/react-query";
import { usePart } from "../../../address.ts";
import { useAction } from "../../../api/action.ts";
import { ends, unpaid } from "../../../pages/settlements/equation.tsx";
import { Answer } from "../../../ui/answer.tsx";
import { Button } from "../../../ui/button.tsx";
import { Identity } from "../../../ui/copy.tsx";
import { save } from "../../../ui/download.ts";
import { ErrorNote } from "../../../ui/face.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { Money } from "../../../ui/money.tsx";
import { Page as Frame, Section } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { Day, Time } from "../../../ui/time.tsx";
import { type Schema, download, read } from "../../api/client.ts";
import { at } from "../../paths.ts";
import { useBook } from "../merchants/book.tsx";
import { Totals } from "../ledger/totals.tsx";
import { Bank } from "./bank.tsx";

type Record = Schema<"SettlementRecord">;

export function Page() {
  const { id, environment } = useBook();
  const uuid = usePart("uuid");
  const path = { id, environment, uuid };
  const record = useQuery(read("/v1/merchants/{id}/books/{environment}/settlements/{uuid}/record", { path }));
  const address = `/v1/merchants/${id}/books/${environment}/settlements/${encodeURIComponent(uuid)}`;
  const statement = useAction(
    async () => {
      save(await download(`${address}/statement`), `${uuid}.csv`);
      return true;
    },
    { refresh: ["nothing"] },
  );
  return (
    <Frame
      title="Settlement"
      above={{ to: at.settlements(id, environment), label: `Settlements of ${environment}` }}
      beside={
        <>
          {record.data && <Status status={record.data.settlement.status} />}
          <Identity id={uuid} what="the batch's identity" />
        </>
      }
      lead={record.data && `A payout to ${record.data.settlement.merchant_name}.`}
      actions={record.data && <Button onClick={() => statement.run(undefined)}>Download CSV</Button>}
      curl={{ path: `${address}/record` }}
    >
      {statement.error && <ErrorNote error={statement.error} />}
      <Answer of={record}>{(record) => <Whole of={record} />}</Answer>
    </Frame>
  );
}

function Whole({ of: record }: { of: Record }) {
  const { settlement, book } = record;
  const { id, environment } = useBook();
  return (
    <>
      <Sum of={settlement} />
      <Facts>
        <Fact name="From">
          <Time at={settlement.period_start} shape="minute" />
        </Fact>
        <Fact name="To">
          <Time at={settlement.period_end} shape="minute" />
        </Fact>
        {settlement.status !== "paid" && (
          <Fact name={settlement.status === "failed" ? "Was due" : "Due"}>
            <Day on={settlement.payout_date} />
          </Fact>
        )}
        <Fact name="Paid">
          {settlement.paid_at === null ? unpaid[settlement.status] : <Time at={settlement.paid_at} />}
        </Fact>
        <Fact name="Bank reference">{settlement.bank_reference ?? "none"}</Fact>
      </Facts>
      <Bank of={record} />
      <Section title={`The book in ${book.currency}, as it stands`}>
        <Totals of={book} id={id} environment={environment} />
      </Section>
    </>
  );
}

/** Gross less what goes away is what is paid out. */
function Sum({ of: { currency, exponent, status, payment_count: count, ...sums } }: { of: Schema<"Settlement"> }) {
  const lines: [sign: string, label: string, minor: number][] = [
    ["", `${count} ${count === 1 ? "payment" : "payments"} and any credited receipts`, sums.gross_minor],
    ["−", "fees", sums.fee_minor],
    ["−", "refunds and lost disputes", sums.refund_minor],
  ];
  return (
    <div className="max-w-xl rounded-md border border-line bg-panel px-4 py-2">
      <table aria-label="The batch as an equation" className="w-full">
        <tbody>
          {[...lines, ["=", ends[status], sums.net_minor] as const].map(([sign, label, minor]) => (
            <tr key={label} className={sign === "=" ? "border-t border-line font-semibold" : undefined}>
              <td className="w-6 text-muted">{sign}</td>
              <th scope="row" className={`py-1.5 text-left ${sign === "=" ? "font-semibold" : "font-normal"}`}>
                {label}
              </th>
              <td className="py-1.5 text-right">
                <Money of={{ amount_minor: minor, currency, exponent }} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
