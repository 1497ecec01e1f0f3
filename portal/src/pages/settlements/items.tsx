// The items of a settlement: each payment, credited receipt, refund and lost dispute.
import type { UseQueryResult } from "@tanstack/react-query";
import { useApi, usePlace } from "../../api/place.ts";
import type { Place } from "../../api/client.ts";
import type { ApiError } from "../../api/error.ts";
import type { Schema } from "../../api/types.ts";
import { paths } from "../../paths.ts";
import { Empty } from "../../ui/empty.tsx";
import { useCursor, useList } from "../../ui/list.ts";
import { Money } from "../../ui/money.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { Digits } from "../balances/digits.tsx";
import { PRINTED_MAX } from "./print.ts";

type Item = Schema<"SettlementItem">;
type ItemList = Schema<"SettlementItemList">;

function pageOf(place: Place, { kind, id, payment_reference: reference }: Item): string {
  if (kind === "refund") return paths.refund(place, id);
  return kind === "dispute" ? paths.dispute(place, id) : paths.payment(place, reference);
}

interface Props {
  of: Schema<"Settlement">;
  /** The items to print, in place of those of the open page. */
  printed: ItemList | undefined;
}

export function Items({ of: { uuid }, printed }: Props) {
  const place = usePlace();
  const api = useApi();
  const cursor = useCursor();
  const open = useList(api.read("/v1/settlements/{uuid}/items", { path: { uuid }, query: cursor.query }));
  const list = printed ? shownOf(printed, open) : open;
  const columns: Column<Item>[] = [
    {
      head: "Your reference",
      cell: (item) => (
        <span>
          <span className="line-clamp-1 max-w-32 break-all roomy:max-w-56 roomy:min-w-24">{item.reference_id}</span>
          {/* A narrow table has no room for the columns. */}
          <span className="block text-xs font-normal text-muted roomy:hidden">
            {item.kind}, <Time at={item.occurred_at} shape="day" />
          </span>
        </span>
      ),
    },
    { head: "Kind", from: "wide", cell: (item) => item.kind },
    { head: "Method", from: "full", cell: (item) => item.payment_method.replaceAll("_", " ") },
    {
      head: "Amount",
      align: "right",
      cell: (item) => (
        <>
          <Money of={signed(item, item.amount_minor)} signed />
          {item.fee_minor > 0 && (
            <span className="block text-xs text-muted roomy:hidden">
              fee <Digits minor={-item.fee_minor} exponent={item.exponent} />
            </span>
          )}
        </>
      ),
    },
    {
      head: "Fee",
      align: "right",
      from: "wide",
      cell: (item) => item.fee_minor > 0 && <Money of={{ ...item, amount_minor: -item.fee_minor }} />,
    },
    { head: "When", align: "right", from: "wide", cell: (item) => <Time at={item.occurred_at} shape="minute" /> },
  ];
  return (
    <>
      <Table
        label="Items of the batch"
        list={list}
        cursor={cursor}
        columns={columns}
        id={(item) => item.id}
        to={(item) => pageOf(place, item)}
        empty={<Empty title="Nothing is in it" />}
      />
      {list.data && (
        <OnPaper shown={list.data.data.length} all={countOf(list.data.sums)} isWhole={printed !== undefined} />
      )}
    </>
  );
}

/** What is printed does not wait for the list of the open page. */
const shownOf = (printed: ItemList, open: UseQueryResult<ItemList, ApiError>): UseQueryResult<ItemList, ApiError> =>
  ({ ...open, data: printed, error: null, isPlaceholderData: false }) as UseQueryResult<ItemList, ApiError>;

const countOf = (sums: readonly Schema<"SettlementSum">[]): number => sums.reduce((all, { items }) => all + items, 0);

/** Says on paper that items are missing there, and where they are. */
function OnPaper({ shown, all, isWhole }: { shown: number; all: number; isWhole: boolean }) {
  if (shown >= all) return null;
  return (
    <p className="mt-2 hidden font-medium print:block">
      {isWhole ? `The first ${shown} of ${all} items.` : `${shown} of ${all} items: only the page that was open.`} All
      of them are in the CSV statement of this settlement
      {!isWhole && `; the page's “Print” button prints up to ${PRINTED_MAX}`}.
    </p>
  );
}

/** Refunds and lost disputes take away. */
function signed({ kind, currency, exponent }: Item, minor: number) {
  return { currency, exponent, amount_minor: kind === "payment" || kind === "receipt" ? minor : -minor };
}
