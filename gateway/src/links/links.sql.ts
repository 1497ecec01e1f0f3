// Statements that read, lock and write payment links, and that read the payments of links.
import { type Micros, SECOND, sqlTime } from "../ground/clock.ts";
import { idOf, uuidBytes, uuidOf } from "../ground/ids.ts";
import type { Minor } from "../ground/money.ts";
import { type Book, bookColumns, bookKey, bookOfRow } from "../merchants/books.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import type { PaymentStatus } from "../payments/states.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import { LOOKED_AT_MAX, type Place, placesIn } from "../store/searches.sql.ts";
import { type Columns, type Table, arraysOf, bulkInsert, bulkUpdate, loadByKey, rowsOf } from "../store/table.ts";
import type { LinkName } from "./link-address.ts";
import type { Link, LinkPayment, LinkSnapshot, LinkStatus } from "./link.ts";

type LinkKey = { book: Book; uuid: string };

const keyColumns = {
  ...bookColumns,
  link_id: ["uuid", ({ uuid }: LinkKey) => uuidBytes(uuid)],
} as const satisfies Columns<LinkKey>;

const endColumns = {
  deactivated_at: ["timestamptz", (link: Link) => link.deactivatedAt],
} as const satisfies Columns<Link>;

const birthColumns = {
  token: ["bytea", (link: Link) => link.token],
  reusable: ["boolean", (link: Link) => link.reusable],
  customer_required: ["boolean", (link: Link) => link.customerRequired],
  payment_expires_in: ["integer", (link: Link) => link.paymentExpiresIn],
  created_at: ["timestamptz", (link: Link) => link.createdAt],
  expires_at: ["timestamptz", (link: Link) => link.expiresAt],
  currency: ["text", (link: Link) => link.currency],
  amount_minor: ["bigint", (link: Link) => link.amountMinor],
  minimum_minor: ["bigint", (link: Link) => link.minimumMinor],
  maximum_minor: ["bigint", (link: Link) => link.maximumMinor],
  payment_methods: ["text", (link: Link) => link.methods?.join(",")],
  description: ["text", (link: Link) => link.description],
  return_url: ["text", (link: Link) => link.returnUrl],
  metadata: ["json", (link: Link) => link.metadata && JSON.stringify(link.metadata)],
} as const satisfies Columns<Link>;

/** Links by id. Loading locks them, so that each use of a link sees the uses before it. */
export const links: Table<LinkKey, Link> = {
  name: "payment links",
  keyText: ({ book, uuid }) => `${bookKey(book)}/${uuid}`,
  keyOf: (link) => link,
  load: loadByKey("lock payment links", "payment_links", keyColumns),
  parse: linkOfRow,
  insert: bulkInsert<Link>("payment_links", { ...keyColumns, ...endColumns, ...birthColumns }),
  update: bulkUpdate<Link>("payment_links", keyColumns, endColumns),
};

function linkOfRow(row: Row): Link {
  const metadata = optional<string>(row.metadata);
  return {
    book: bookOfRow(row),
    uuid: idOf("link", row.link_id as string),
    token: row.token as Buffer,
    reusable: row.reusable as boolean,
    currency: row.currency as string,
    amountMinor: optional<Minor>(row.amount_minor),
    minimumMinor: optional<Minor>(row.minimum_minor),
    maximumMinor: optional<Minor>(row.maximum_minor),
    description: optional<string>(row.description),
    methods: optional<string>(row.payment_methods)?.split(",") as PaymentMethod[] | undefined,
    customerRequired: row.customer_required as boolean,
    paymentExpiresIn: row.payment_expires_in as number,
    returnUrl: optional<string>(row.return_url),
    metadata: metadata === undefined ? undefined : (JSON.parse(metadata) as Record<string, string>),
    createdAt: row.created_at as Micros,
    expiresAt: optional<Micros>(row.expires_at),
    deactivatedAt: optional<Micros>(row.deactivated_at),
  };
}

export interface LinkUseKey extends LinkKey {
  /** Start of the window in real time; the query adds the book's clock offset. */
  realSince: Micros;
  /** Cap at which counting stops. */
  most: number;
}

/** The payments of a link, as far as the next use of it has to know them. */
interface LinkUse {
  key: LinkUseKey;
  payment: LinkPayment | undefined;
  /** Number of payments since `realSince`, at most `most`. */
  recent: number;
}

const useColumns: Columns<LinkUseKey> = {
  ...keyColumns,
  since_ms: ["bigint", ({ realSince }) => Math.floor(realSince / 1000)],
  most: ["integer", ({ most }) => most],
};

/** Selects the payment that occupies a single-use link, by the exact conditions of its unique index. `of`: alias of the link's row. */
const holding = (of: string): string => `select p.payment_id, p.reference_id, p.status, p.expires_at
  from payments p
  where p.merchant_id = ${of}.merchant_id and p.environment = ${of}.environment and p.link_id = ${of}.link_id
    and not p.link_reusable and p.status in ('pending', 'processing', 'succeeded', 'partially_refunded', 'refunded')
  limit 1`;

/** Loaded without a lock of their own, under the link's; inserted with payments. Payment ids are in the order of their book's time. */
export const linkUses: Table<LinkUseKey, LinkUse> = {
  name: "payments of links",
  keyText: ({ book, uuid }) => `${bookKey(book)}/${uuid}`,
  keyOf: ({ key }) => key,
  load: (keys) => ({
    name: "load payments of links",
    text: `select k.merchant_id, k.environment, k.link_id, k.most, h.payment_id, h.reference_id, h.status, h.expires_at as payment_ends_at, c.recent
from (
${rowsOf(useColumns)}
) k
cross join lateral (
  select rpad(lpad(to_hex(k.since_ms + b.clock_offset_seconds * 1000), 12, '0'), 32, '0')::uuid as first_id
  from books b
  where b.merchant_id = k.merchant_id and b.environment = k.environment
  limit 1
) b
left join lateral (
  ${holding("k")}
) h on true
cross join lateral (
  select count(*)::integer as recent
  from (
    select p.payment_id
    from payments p
    where p.merchant_id = k.merchant_id and p.environment = k.environment and p.link_id = k.link_id
      and p.payment_id >= b.first_id
    limit k.most
  ) bounded
) c`,
    values: arraysOf(useColumns, keys),
  }),
  parse: (row) => ({
    key: { book: bookOfRow(row), uuid: idOf("link", row.link_id as string), realSince: 0, most: row.most as number },
    payment: linkPaymentOfRow(row),
    recent: row.recent as number,
  }),
};

function linkPaymentOfRow(row: Row): LinkPayment | undefined {
  const id = optional<string>(row.payment_id);
  if (id === undefined) return undefined;
  return {
    reference: idOf("payment", id),
    referenceId: row.reference_id as string,
    status: row.status as PaymentStatus,
    expiresAt: row.payment_ends_at as Micros,
  };
}

export function snapshotOfLinkRow(row: Row, realNow: Micros): LinkSnapshot {
  return {
    link: linkOfRow(row),
    payment: linkPaymentOfRow(row),
    now: realNow + Number(row.clock_offset_seconds) * SECOND,
  };
}

const snapshotFrom = (
  source: string,
): string => `select l.*, h.payment_id, h.reference_id, h.status, h.expires_at as payment_ends_at, b.clock_offset_seconds
from ${source} l
join books b using (merchant_id, environment)
left join lateral (
  ${holding("l")}
) h on true`;

const snapshot = snapshotFrom("payment_links");

/** One link of a merchant, in either environment. */
export function selectLink(merchantId: string, uuid: string): Statement {
  return {
    name: "select payment link",
    text: `${snapshot}
where l.merchant_id = $1::uuid and l.environment = any('{sandbox,production}'::environment[]) and l.link_id = $2::uuid`,
    values: [uuidOf(merchantId), uuidOf(uuid)],
  };
}

export function selectLinkByToken({ merchantId, token }: LinkName): Statement {
  return {
    name: "select payment link by token",
    text: `${snapshot}
where l.merchant_id = $1::uuid and sha256(l.token) = sha256($2::bytea)`,
    values: [uuidOf(merchantId), token],
  };
}

interface LinkFilter {
  book: Book;
  status: LinkStatus | undefined;
  realNow: Micros;
  /** Only links older than this one. */
  after: string | undefined;
  limit: number;
}

/** The same rule as `statusOf`, in SQL for lists. */
const status = (now: string): string => `case
  when h.status in ('succeeded', 'partially_refunded', 'refunded') then 'paid'
  when l.deactivated_at is not null then 'deactivated'
  when l.expires_at <= ${now}::timestamptz + make_interval(secs => b.clock_offset_seconds) then 'expired'
  else 'active'
end`;

/** Selects the newest links of a list, at most `most`. */
function lookedAt({ book, after }: LinkFilter, place: Place, most: number): string {
  return `(
  select *
  from payment_links
  where merchant_id = ${place(uuidOf(book.merchantId))}::uuid and environment = ${place(book.environment)}::environment${
    after === undefined ? "" : ` and link_id < ${place(uuidOf(after))}::uuid`
  }
  order by link_id desc
  limit ${place(most)}::integer
)`;
}

/** A page of links, newest first, with one row more than `limit`. With a status it looks at `LOOKED_AT_MAX` links. */
export function selectLinks(filter: LinkFilter): Statement {
  const { status: wanted, realNow, limit } = filter;
  const values: unknown[] = [];
  const place = placesIn(values);
  const source = lookedAt(filter, place, wanted === undefined ? limit + 1 : LOOKED_AT_MAX);
  return {
    text: `${snapshotFrom(source)}${wanted === undefined ? "" : `\nwhere ${status(place(sqlTime(realNow)))} = ${place(wanted)}::text`}
order by l.link_id desc
limit ${place(limit + 1)}::integer`,
    values,
  };
}

/** The oldest link that `selectLinks` with a status looks at. Gives no row when it looks at all of them. */
export function selectLookedTo(filter: LinkFilter): Statement {
  const values: unknown[] = [];
  return {
    text: `select link_id
from ${lookedAt(filter, placesIn(values), LOOKED_AT_MAX)} l
order by link_id desc
offset ${LOOKED_AT_MAX - 1}
limit 1`,
    values,
  };
}
