// A settlement as an equation: what its payments brought, less what went away, is what is paid out.
import { useQuery } from "@tanstack/react-query";
import { useApi } from "../../api/place.ts";
import type { Schema } from "../../api/types.ts";
import { Money } from "../../ui/money.tsx";

type Sum = Schema<"SettlementSum">;

/** What the net of a batch is, by its status. */
export const ends = { processing: "to be paid out", paid: "paid out", failed: "given back by the bank" } as const;
/** What stands in place of the time at which a batch was paid. */
export const unpaid = { processing: "not yet", paid: null, failed: "no, the bank returned it" } as const;

export function Equation({ of: settlement }: { of: Schema<"Settlement"> }) {
  const api = useApi();
  const { uuid, currency, exponent } = settlement;
  // The same question as that of the items' first page: asked once.
  const items = useQuery(api.read("/v1/settlements/{uuid}/items", { path: { uuid }, query: { limit: 25 } }));
  const sums = items.data?.sums ?? [];
  const sumOf = (kind: Sum["kind"]): Sum | undefined => sums.find((sum) => sum.kind === kind);
  const [payments, receipts, refunds, disputes] = [
    sumOf("payment"),
    sumOf("receipt"),
    sumOf("refund"),
    sumOf("dispute"),
  ];
  const receiptMinor = receipts?.amount_minor ?? 0;
  const disputeMinor = disputes?.amount_minor ?? 0;
  const lines: [sign: string, label: string, minor: number][] = [
    ["", counted(payments, "payment", settlement.payment_count), settlement.gross_minor - receiptMinor],
    ...(receipts ? [["+", counted(receipts, "credited receipt"), receiptMinor] as [string, string, number]] : []),
    ["−", "fees", settlement.fee_minor],
    ["−", refunds ? counted(refunds, "refund") : "refunds", settlement.refund_minor - disputeMinor],
    ...(disputes ? [["−", counted(disputes, "lost dispute"), disputeMinor] as [string, string, number]] : []),
  ];
  const cell = "py-1.5 text-right";
  return (
    <div className="max-w-xl rounded-md border border-line bg-panel px-4 py-2">
      <table aria-label="The batch as an equation" className="w-full">
        <tbody>
          {lines.map(([sign, label, minor]) => (
            <tr key={label}>
              <td className="w-6 text-muted">{sign}</td>
              <th scope="row" className="py-1.5 text-left font-normal">
                {label}
              </th>
              <td className={cell}>
                <Money of={{ amount_minor: minor, currency, exponent }} />
              </td>
            </tr>
          ))}
          <tr className="border-t border-line font-semibold">
            <td className="text-muted">=</td>
            <th scope="row" className="py-1.5 text-left font-semibold">
              {ends[settlement.status]}
            </th>
            <td className={cell}>
              <Money of={{ amount_minor: settlement.net_minor, currency, exponent }} />
            </td>
          </tr>
        </tbody>
      </table>
    </div>
  );
}

function counted(sum: Sum | undefined, noun: string, otherwise = 0): string {
  const count = sum?.items ?? otherwise;
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
