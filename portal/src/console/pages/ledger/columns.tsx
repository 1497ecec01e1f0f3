// The columns of entries of an account, wherever they are listed.
import { Digits } from "../../../pages/balances/digits.tsx";
import { Money } from "../../../ui/money.tsx";
import type { Column } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import type { Schema } from "../../api/client.ts";

type Entry = Schema<"BalanceEntry">;

export function entryColumns(currency: string, exponent: number): Column<Entry>[] {
  return [
    { head: "What happened", cell: ({ kind }) => kind.replaceAll("_", " ") },
    { head: "Of", from: "full", cell: ({ group }) => <code className="font-mono text-xs">{group}</code> },
    { head: "Journal", from: "full", cell: ({ journal }) => <code className="font-mono text-xs">{journal}</code> },
    {
      head: "Amount",
      align: "right",
      cell: ({ amount_minor: minor }) => <Money of={{ amount_minor: minor, currency, exponent }} signed />,
    },
    {
      head: "Balance after",
      align: "right",
      cell: ({ figure_after_minor: minor }) => <Digits minor={minor} exponent={exponent} />,
    },
    { head: "Posted", align: "right", from: "wide", cell: ({ posted_at: posted }) => <Time at={posted} /> },
  ];
}
