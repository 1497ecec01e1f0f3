// Why this number: the entries behind a figure of the balances, or behind an account, each with the figure after it.
import { useQuery } from "@tanstack/react-query";
import { usePart, useQueryText, useSetQuery } from "../../address.ts";
import { useApi, usePlace } from "../../api/place.ts";
import type { Schema } from "../../api/types.ts";
import { pageOfObject, paths, withSearch } from "../../paths.ts";
import { Answer } from "../../ui/answer.tsx";
import { Button } from "../../ui/button.tsx";
import { type CsvColumn, decimalOf, fields } from "../../ui/csv.ts";
import type { Call } from "../../ui/curl.tsx";
import { ShortId } from "../../ui/copy.tsx";
import { CsvButton, CsvNote, useCsvDownload } from "../../ui/download-csv.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ErrorFace, useErrorShown } from "../../ui/face.tsx";
import { Filters, day, useFilters } from "../../ui/filters.tsx";
import { To } from "../../ui/link.tsx";
import { useCursor, useList } from "../../ui/list.ts";
import { Money } from "../../ui/money.tsx";
import { Page as Frame } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { pageOfGroup } from "./journals/journal-id.tsx";
import { Digits } from "./digits.tsx";

type Entry = Schema<"BalanceEntry">;

const figures = {
  available: "Available",
  held: "Held",
  pending_settlement: "On its way",
} as const;
type Figure = keyof typeof figures;
const isFigure = (text: string): text is Figure => text in figures;

// The names are those of the API's query.
const spec = { posted_from: day("From", "begin"), posted_to: day("To", "end") };

function csvColumns(currency: string, exponent: number): CsvColumn<Entry>[] {
  const decimal = (minor: number | null): string | null => (minor === null ? null : decimalOf(minor, exponent));
  return [
    ...fields<Entry>("id", "posted_at", "kind", "object", "group"),
    ["currency", () => currency],
    ...fields<Entry>("amount_minor"),
    ["amount", ({ amount_minor: minor }) => decimal(minor)],
    ...fields<Entry>("figure_after_minor"),
    ["figure_after", ({ figure_after_minor: minor }) => decimal(minor)],
  ];
}

/** The call of the sandbox that moves each figure. */
const moves: Record<Figure, Call> = {
  available: { method: "POST", path: "/v1/sandbox/payments/pay_…/simulate", body: { outcome: "succeeded" } },
  held: { method: "POST", path: "/v1/sandbox/payments/pay_…/dispute", body: { reason: "product_not_received" } },
  pending_settlement: { method: "POST", path: "/v1/sandbox/settlements/run", body: {} },
};

export function Page() {
  const place = usePlace();
  const api = useApi();
  const currency = usePart("currency");
  const search = useQueryText();
  const setQuery = useSetQuery();
  const cursor = useCursor();
  const { account } = search;
  const figure: Figure = search.figure !== undefined && isFigure(search.figure) ? search.figure : "available";
  const filters = useFilters(spec);
  const asked = { ...(account === undefined ? { figure } : { account }), ...filters.value };
  const list = useList(
    api.read("/v1/accounts/{currency}/entries", { path: { currency }, query: { ...asked, ...cursor.query } }),
  );
  const balances = useQuery(api.read("/v1/balances"));
  const error = useErrorShown(balances);
  const balance = balances.data?.data.find((one) => one.currency === currency);
  const exponent = balance?.exponent ?? 2;
  const csv = useCsvDownload({
    what: `entries-${currency}-${account ?? figure}`.replaceAll(":", "-"),
    columns: csvColumns(currency, exponent),
    times: ["posted_at"],
    read: (page, signal) =>
      api.readOnce(signal, "/v1/accounts/{currency}/entries", { path: { currency }, query: { ...asked, ...page } }),
    days: [filters.chosen.posted_from, filters.chosen.posted_to],
  });
  if (error && !balances.data)
    return (
      <Frame title={`Balance in ${currency}`}>
        <ErrorFace error={error} retry={() => balances.refetch()} />
      </Frame>
    );
  const columns: Column<Entry>[] = [
    {
      head: "What happened",
      cell: (entry) => (
        <span>
          {entry.kind.replaceAll("_", " ")}
          {/* A narrow table has no room for the column. */}
          <span className="block text-xs font-normal text-muted roomy:hidden">
            <Time at={entry.posted_at} shape="minute" />
          </span>
        </span>
      ),
    },
    {
      head: "Of",
      from: "wide",
      // A receipt has no page: the payment for which it came has one.
      cell: ({ object, group }) => {
        const page = pageOfObject(place, object);
        return (
          <To to={page ?? pageOfGroup(place, group)} className="link">
            <ShortId id={page === undefined ? group : object} />
          </To>
        );
      },
    },
    {
      head: "Amount",
      align: "right",
      cell: ({ amount_minor: minor, figure_after_minor: after }) => (
        <>
          <Money of={{ amount_minor: minor, currency, exponent }} signed />
          <span className="block text-xs text-muted roomy:hidden">
            then <Digits minor={after} exponent={exponent} />
          </span>
        </>
      ),
    },
    {
      head: "Figure after",
      align: "right",
      from: "wide",
      cell: ({ figure_after_minor: minor }) => <Digits minor={minor} exponent={exponent} />,
    },
    { head: "Posted", align: "right", from: "wide", cell: (entry) => <Time at={entry.posted_at} /> },
  ];
  return (
    <Frame
      title={`${account ?? figures[figure]} in ${currency}`}
      above={{ to: paths.balances(place), label: "Balances" }}
      lead={
        account === undefined
          ? "Why this number: every entry behind it, newest first, with the figure after each."
          : "Every entry of the account, newest first. Debits are positive."
      }
      beside={
        account === undefined &&
        balance && (
          <span className="text-lg">
            <span className="mr-1 text-xs text-muted">{currency}</span>
            <Digits minor={balance[`${figure}_minor`]} exponent={exponent} />
          </span>
        )
      }
      actions={balance && list.data && list.data.data.length > 0 && <CsvButton of={csv} />}
      curl={account === undefined ? { path: withSearch(`/v1/balances/${currency}/entries`, asked) } : undefined}
    >
      <div>
        <nav aria-label="Figures" className="mb-3 flex flex-wrap gap-2">
          {Object.entries(figures).map(([name, label]) => (
            <Button
              key={name}
              look={account === undefined && name === figure ? "plain" : "quiet"}
              onClick={() => setQuery({ figure: name === "available" ? undefined : name })}
            >
              {label}
            </Button>
          ))}
        </nav>
        <CsvNote of={csv} />
        <Filters of={filters} />
        {/* Entries do not say how many decimals their currency has: the balance does. */}
        <Answer of={balances}>
          {() => (
            <Table
              label="Entries"
              list={list}
              cursor={cursor}
              columns={columns}
              id={(entry) => entry.id}
              to={(entry) => paths.journal(place, entry.journal)}
              empty={
                filters.isSet ? (
                  <Empty title="No entries on these days">Choose other days, or clear the filters.</Empty>
                ) : (
                  <Empty
                    title="No entries yet"
                    curl={account === undefined && place.environment === "sandbox" ? moves[figure] : undefined}
                  >
                    A figure is the sum of its entries. This one has none, so it is zero.
                  </Empty>
                )
              }
            />
          )}
        </Answer>
      </div>
    </Frame>
  );
}
