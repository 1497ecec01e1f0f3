// Waiting: everything that waits for a person, in one list by urgency.
import { useQuery } from "@tanstack/react-query";
import { Empty } from "../../ui/empty.tsx";
import { Filters, choice, useFilters } from "../../ui/filters.tsx";
import { Money } from "../../ui/money.tsx";
import { Page as Frame } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { type Schema, read } from "../api/client.ts";
import { at } from "../paths.ts";
import { Due } from "./waiting/due.tsx";
import { kindNames, kindOf } from "./waiting/kinds.ts";

type Queue = Schema<"WaitingQueue">;
type Item = Schema<"WaitingItem"> & { kind: string };

const spec = {
  kind: choice("Kind", kindNames, (kind) => kindOf(kind).name),
  environment: choice("Environment", ["production", "sandbox"]),
};

export function Page() {
  const filters = useFilters(spec);
  const { kind, environment } = filters.value;
  const waiting = useQuery({
    ...read("/v1/waiting", { query: { environment, limit: 100 } }),
    refetchInterval: 15_000,
    select: ({ data }) => listOf(data, kind),
  });
  return (
    <Frame
      title="Waiting"
      lead={kind === undefined ? "What needs a person, the most urgent first." : kindOf(kind).todo}
      curl={{ path: "/v1/waiting?limit=100" }}
    >
      <div>
        <Filters of={filters} />
        <Table
          label="Waiting"
          list={waiting}
          columns={columns}
          id={(item) => `${item.kind} ${item.id}`}
          to={pageOf}
          empty={
            <Empty title="Nothing waits">
              Whatever needs a person appears here: reviews, disputes, unassigned money, changes that need a second
              operator.
            </Empty>
          }
        />
      </div>
    </Frame>
  );
}

/** What runs out first comes first; what has no deadline comes after it, the oldest first. */
function listOf(queues: readonly Queue[], kind: string | undefined) {
  const items = queues
    .filter((queue) => kind === undefined || queue.kind === kind)
    .flatMap((queue): Item[] => queue.items.map((item) => ({ ...item, kind: queue.kind })));
  const urgency = ({ due_at: due, since }: Item): string => (due === null ? `b${since ?? ""}` : `a${due}`);
  return {
    data: items.toSorted((one, other) => (urgency(one) < urgency(other) ? -1 : 1)),
    has_more: false,
    next_cursor: null,
  };
}

/** The page on which one is decided. What has none is read with its payment. */
function pageOf(item: Item): string {
  const { kind, id, merchant_id: merchant, environment, url } = item;
  if (kind === "review") return at.review(id);
  if (kind.startsWith("approval")) return at.approval(id);
  if (kind === "receipt") return at.receipt(id);
  if (kind === "exception") return at.exception(id);
  if (kind === "refund_pending") return at.refund(id);
  if (merchant !== null && environment !== null) {
    if (kind.startsWith("dispute")) return at.dispute(merchant, environment, id);
    if (kind.startsWith("payout")) return at.payout(merchant, environment, id);
    if (kind === "endpoint_failing") return at.undelivered(merchant, environment);
    if (kind === "book_quarantined") return at.ledger(merchant, environment);
  }
  const [, payment] = /\/payments\/(pay_\w+)$/.exec(url) ?? [];
  return payment === undefined ? at.waiting() : at.payment(payment);
}

function Whose({ of: { merchant_name: name, environment } }: { of: Item }) {
  return (
    <>
      {name ?? <span className="text-muted">the gateway</span>}
      {environment === "sandbox" && <span className="text-muted"> sandbox</span>}
    </>
  );
}

const columns: Column<Item>[] = [
  {
    head: "What",
    cell: (item) => (
      <span>
        {kindOf(item.kind).name}
        {/* A narrow table has no room for the column. */}
        <span className="block text-xs font-normal roomy:hidden">
          <Whose of={item} />
        </span>
      </span>
    ),
  },
  { head: "Whose", from: "wide", cell: (item) => <Whose of={item} /> },
  {
    head: "About",
    from: "wide",
    cell: ({ kind, note }) => (
      <span className="line-clamp-1 max-w-md break-all">
        {kind.startsWith("dispute") ? note?.replaceAll("_", " ") : note}
      </span>
    ),
  },
  {
    head: "Amount",
    align: "right",
    cell: ({ amount_minor, currency, exponent }) =>
      amount_minor !== null &&
      currency !== null &&
      exponent !== null && <Money of={{ amount_minor, currency, exponent }} />,
  },
  {
    head: "Until",
    align: "right",
    cell: ({ due_at: due, since, environment }) =>
      due === null ? (
        since !== null && (
          <span className="text-muted">
            since <Time at={since} shape="minute" />
          </span>
        )
      ) : (
        <Due at={due} environment={environment} />
      ),
  },
];
