// GET /ops/v1/waiting: all work queues of operators in one call, each with its count and its oldest items.
import { z } from "zod";
import { wholeBetween } from "../ground/whole.ts";
import { type Clock, type Micros, SECOND, wireTime, wireTimeOrNull } from "../ground/clock.ts";
import { type IdKind, idOf, uuidOf } from "../ground/ids.ts";
import type { Metrics } from "../ground/metrics.ts";
import { exponentOf, wireAmount } from "../ground/money.ts";
import { reply } from "../ground/reply.ts";
import { exampleIds, exampleTimes } from "../http/examples.ts";
import {
  currencyCode,
  environmentField,
  exponentField,
  identity,
  textOrNull,
  timestamp,
  wholeNumber,
  wholeOrNull,
  withExample,
} from "../http/shapes.ts";
import { type Environment, environments } from "../merchants/books.ts";
import type { Database, Statement } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import {
  WAITING_MAX,
  waitingApprovals,
  type WaitingRow,
  selectNames,
  unknownApprovals,
  waitingDeadlines,
  waitingDecisions,
  waitingEndpoints,
  waitingExceptions,
  waitingOperations,
  waitingOutcomes,
  waitingPayouts,
  waitingReceipts,
  waitingRefunds,
  waitingReturns,
  waitingReviews,
} from "./waiting.sql.ts";

const SHOWN_MAX = 5;

interface Queue {
  kind: string;
  about: string;
  statement: (asked: { now: Micros; environment: Environment | undefined }) => Statement;
  id: (row: WaitingRow) => string;
  /** Address at which an item is read or decided. */
  url: (row: WaitingRow, id: string) => string;
}

const merchantOf = ({ merchant_id: id }: WaitingRow): string | null => (id === null ? null : idOf("merchant", id));
const bookUrl = (row: WaitingRow): string =>
  `/ops/v1/merchants/${merchantOf(row) ?? ""}/books/${row.environment ?? ""}`;
const paymentUrl = ({ payment_id }: WaitingRow): string => `/ops/v1/payments/${idOf("payment", payment_id ?? "")}`;
const named =
  (kind: IdKind) =>
  ({ id }: WaitingRow): string =>
    idOf(kind, id);

const idOfOperation = ({ note, id }: WaitingRow): string =>
  idOf(note?.split(" ")[1] === "refund" ? "refund" : "payment", id);

/** In the order of the answer: first the queues in which a delay costs money. */
const queues: readonly Queue[] = [
  {
    kind: "review",
    about:
      "A payment that fraud detection left to a person. Ours refuses it at `due_at`; without it an acquirer asks, and decides by itself one day.",
    statement: waitingReviews,
    id: named("payment"),
    url: (_row, id) => `/ops/v1/reviews/${id}`,
  },
  {
    kind: "approval",
    about: "A change that needs a second operator; `note` says who asked for what. It expires at `due_at`.",
    statement: waitingApprovals,
    id: named("approval"),
    url: (_row, id) => `/ops/v1/approvals/${id}`,
  },
  {
    kind: "approval_unknown",
    about:
      "An approved change of the last fourteen days of which nobody can know whether it was made: look at its object.",
    statement: unknownApprovals,
    id: named("approval"),
    url: (_row, id) => `/ops/v1/approvals/${id}`,
  },
  {
    kind: "dispute_deadline",
    about: "A dispute that its merchant has not answered, three days or less before it is lost.",
    statement: waitingDeadlines,
    id: named("dispute"),
    url: (row, id) => `${bookUrl(row)}/disputes/${id}`,
  },
  {
    kind: "dispute_decision",
    about: "A dispute whose evidence is submitted, until you record how it ended.",
    statement: waitingDecisions,
    id: named("dispute"),
    url: (row, id) => `${bookUrl(row)}/disputes/${id}`,
  },
  {
    kind: "receipt",
    about: "Money that no payment awaited: return it or credit it.",
    statement: waitingReceipts,
    id: named("receipt"),
    url: (_row, id) => `/ops/v1/receipts/${id}`,
  },
  {
    kind: "exception",
    about: "An acquirer's report that disagrees with the book.",
    statement: waitingExceptions,
    id: named("exception"),
    url: (_row, id) => `/ops/v1/reconciliation-exceptions/${id}`,
  },
  {
    kind: "payout_overdue",
    about: "A batch whose day of payout has come, and that is not recorded as paid.",
    statement: waitingPayouts,
    id: named("settlement"),
    url: (row, id) => `${bookUrl(row)}/settlements/${id}/record`,
  },
  {
    kind: "payout_returned",
    about: "A batch of the last fourteen days that the bank returned: its funds wait for the next run.",
    statement: waitingReturns,
    id: named("settlement"),
    url: (row, id) => `${bookUrl(row)}/settlements/${id}/record`,
  },
  {
    kind: "refund_pending",
    about: "A refund whose acquirer has not answered for a day.",
    statement: waitingRefunds,
    id: named("refund"),
    url: (_row, id) => `/ops/v1/refunds/${id}`,
  },
  {
    kind: "outcome_unknown",
    about: "A call to an acquirer whose outcome nobody knows, although it has been asked about for an hour.",
    statement: waitingOutcomes,
    id: idOfOperation,
    url: paymentUrl,
  },
  {
    kind: "operation_overdue",
    about: "A call to an acquirer that was due five minutes ago, and that no worker has taken up.",
    statement: waitingOperations,
    id: idOfOperation,
    url: paymentUrl,
  },
  {
    kind: "endpoint_failing",
    about: "A receiver for which events were given up in the last day; `note` is how many.",
    statement: waitingEndpoints,
    id: named("event"),
    url: (row) => `${bookUrl(row)}/events?delivery=undelivered`,
  },
];

const QUARANTINED = "book_quarantined";
const kinds: readonly string[] = [...queues.map(({ kind }) => kind), QUARANTINED];

const itemSchema = withExample(
  z.strictObject({
    id: z.string().meta({ description: "Identity of what waits.", examples: [exampleIds.payment] }),
    merchant_id: identity("merchant").nullable().meta({ description: "Null of a change that is nobody's." }),
    merchant_name: textOrNull("Kopi Melati"),
    environment: environmentField.nullable(),
    since: timestamp.nullable().meta({ description: "Since when, by the clock of its book." }),
    due_at: timestamp.nullable().meta({ description: "When it is too late, or was due; null when nothing runs out." }),
    amount_minor: wholeOrNull(6_000_000_000),
    currency: currencyCode.nullable(),
    exponent: exponentField.nullable(),
    note: textOrNull("order-1042", "What tells it apart."),
    url: z.string().meta({ description: "Where it is read.", examples: [`/ops/v1/reviews/${exampleIds.payment}`] }),
  }),
  { id: "WaitingItem" },
  {
    merchant_id: exampleIds.merchant,
    environment: "production",
    since: exampleTimes.created,
    due_at: exampleTimes.disputed,
    currency: "IDR",
    exponent: 2,
  },
);

const queueSchema = withExample(
  z.strictObject({
    kind: z.enum(kinds).meta({ examples: ["review"] }),
    about: z.string().meta({ description: "What it is.", examples: [queues[0]?.about ?? ""] }),
    count: wholeBetween(0, WAITING_MAX).meta({
      description: `How many wait; counted to ${WAITING_MAX}.`,
      examples: [1],
    }),
    is_more: z.boolean().meta({ description: `True when there are more than ${WAITING_MAX}.` }),
    items: z.array(itemSchema).meta({ description: "The first few: the oldest, or what runs out first." }),
  }),
  { id: "WaitingQueue", description: "What of one kind waits for a person." },
  { is_more: false },
);

const waitingSchema = withExample(
  z.strictObject({
    data: z.array(queueSchema).meta({ description: "Every kind, those too of which nothing waits." }),
    checked_at: timestamp,
  }),
  { id: "Waiting", description: "Everything that waits for a person." },
  { checked_at: exampleTimes.paid },
);

const waitingQuery = z.strictObject({
  environment: environmentField.optional().meta({ description: "Only what waits in this environment." }),
  limit: wholeNumber(/^([1-9]\d?|100)$/, 1, WAITING_MAX, SHOWN_MAX, "So many of each kind."),
});

export function waitingEndpoint(parts: { database: Database; lanes: Lanes; clock: Clock }): OperatorEndpoint {
  return operatorEndpoint({
    method: "GET",
    operationId: "getWaiting",
    path: "/ops/v1/waiting",
    summary: "Everything that waits for a person, in one call",
    description:
      "Books in quarantine are those of the process that answers: each decides for itself. Everything else is read from the database.",
    tag: "Waiting",
    role: "viewer",
    query: waitingQuery,
    success: { description: "Every kind, with the first few of each.", schema: waitingSchema },
    async handle({ query: { environment, limit } }) {
      const data = await readWaiting(parts, environment, Number(limit ?? SHOWN_MAX));
      return reply(200, { data, checked_at: wireTime(parts.clock.now()) });
    },
  });
}

/** Reads every queue, empty ones too, each with its first `shown` items. */
export async function readWaiting(
  { database, lanes, clock }: { database: Database; lanes: Lanes; clock: Clock },
  environment: Environment | undefined,
  shown: number = SHOWN_MAX,
): Promise<z.infer<typeof queueSchema>[]> {
  const now = clock.now();
  const found = await database.pipeline(queues.map(({ statement }) => statement({ now, environment })));
  const views = queues.map((queue, at) => queueView(queue, (found[at] ?? []) as WaitingRow[], shown));
  return [...views, await readQuarantine(database, lanes, environment, shown)];
}

/** Puts on the meters what waits in production: how many of each kind, and for how long the oldest has waited. */
export async function meterWaiting({
  database,
  clock,
  metrics,
}: {
  database: Database;
  clock: Clock;
  metrics: Metrics;
}): Promise<void> {
  const now = clock.now();
  const found = await database.pipeline(queues.map(({ statement }) => statement({ now, environment: "production" })));
  for (const [at, { kind }] of queues.entries()) {
    const rows = (found[at] ?? []) as WaitingRow[];
    const oldest = rows.reduce((least, { since }) => Math.min(least, since), now);
    metrics.waiting.set({ kind }, Math.min(rows.length, WAITING_MAX));
    metrics.waitingOldestSeconds.set({ kind }, (now - oldest) / SECOND);
  }
}

function queueView(queue: Queue, rows: readonly WaitingRow[], shown: number): z.infer<typeof queueSchema> {
  return {
    kind: queue.kind,
    about: queue.about,
    count: Math.min(rows.length, WAITING_MAX),
    is_more: rows.length > WAITING_MAX,
    items: rows.slice(0, shown).map((row) => itemView(queue, row)),
  };
}

function itemView(queue: Queue, row: WaitingRow): z.infer<typeof itemSchema> {
  const id = queue.id(row);
  const { amount_minor: amount, currency } = row;
  return {
    id,
    merchant_id: merchantOf(row),
    merchant_name: row.merchant_name,
    environment: row.environment,
    since: wireTime(row.since),
    due_at: wireTimeOrNull(row.due_at),
    amount_minor: amount === null ? null : wireAmount(amount),
    currency,
    exponent: currency === null ? null : exponentOf(currency),
    note: row.note,
    url: queue.url(row, id),
  };
}

/** Books to which this process no longer writes, because it met an impossible state in them. */
async function readQuarantine(
  database: Database,
  { quarantine }: Lanes,
  environment: Environment | undefined,
  shownMax: number,
): Promise<z.infer<typeof queueSchema>> {
  const books = [...quarantine]
    .map(([key, reason]) => {
      const [merchantId = "", name = ""] = key.split("/");
      return { merchantId, environment: environments.find((one) => one === name) ?? "sandbox", reason };
    })
    .filter((book) => environment === undefined || book.environment === environment);
  const shown = books.slice(0, shownMax);
  const rows =
    shown.length === 0 ? [] : await database.query(selectNames(shown.map(({ merchantId }) => uuidOf(merchantId))));
  const names = new Map(rows.map((row) => [idOf("merchant", row.merchant_id as string), row.name as string]));
  return {
    kind: QUARANTINED,
    about: "A book that this process refuses to write since it met an impossible state in it.",
    count: Math.min(books.length, WAITING_MAX),
    is_more: books.length > WAITING_MAX,
    items: shown.map((book) => ({
      id: book.merchantId,
      merchant_id: book.merchantId,
      merchant_name: names.get(book.merchantId) ?? "",
      environment: book.environment,
      since: null,
      due_at: null,
      amount_minor: null,
      currency: null,
      exponent: null,
      note: book.reason,
      url: `/ops/v1/merchants/${book.merchantId}/books/${book.environment}/verify`,
    })),
  };
}
