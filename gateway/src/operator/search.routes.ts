// GET /ops/v1/search: finds objects of all merchants by identity, by anybody's reference, by a payer's contact or by a merchant's name.
import { z } from "zod";
import { readOperationKey } from "../acquiring/operation.ts";
import { wireTime } from "../ground/clock.ts";
import { idOf, isId } from "../ground/ids.ts";
import { exponentOf, wireAmount } from "../ground/money.ts";
import { reply } from "../ground/reply.ts";
import { exampleIds } from "../http/examples.ts";
import {
  currencyCode,
  environmentField,
  exampleOf,
  exponentField,
  identity,
  text,
  textOrNull,
  timestamp,
  wholeOrNull,
  withExample,
} from "../http/shapes.ts";
import type { PayerData } from "../payments/payer-data.ts";
import type { Database, Statement } from "../store/database.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { isClientId } from "./merchants.schema.ts";
import {
  FOUND_MAX,
  type FoundRow,
  type SoughtKind,
  selectByBankReference,
  selectByContact,
  selectById,
  selectByReferenceId,
  selectByTransaction,
  selectPaidBy,
  selectMerchantsLike,
  sought,
} from "./search.sql.ts";

const kinds = ["merchant", ...(Object.keys(sought) as SoughtKind[])] as const;
type Kind = (typeof kinds)[number];

const hitSchema = withExample(
  z.strictObject({
    kind: z.enum(kinds),
    id: z.string().meta({ examples: [exampleIds.payment] }),
    title: z.string().meta({ description: "What people know it by.", examples: ["order-1042"] }),
    merchant_id: identity("merchant"),
    merchant_name: z.string().meta({ examples: ["Kopi Melati"] }),
    environment: environmentField.nullable().meta({ description: "Null for a merchant." }),
    status: textOrNull("succeeded"),
    amount_minor: wholeOrNull(15_000_000),
    currency: currencyCode.nullable(),
    exponent: exponentField.nullable(),
    at: timestamp,
    url: textOrNull(`/ops/v1/payments/${exampleIds.payment}`, "Where it is read; null where nothing more is told."),
  }),
  {
    id: "OperatorHit",
  },
  { kind: "payment", environment: "production", currency: "IDR", exponent: 2 },
);
type Hit = z.infer<typeof hitSchema>;

const hitsSchema = z
  .strictObject({ data: z.array(hitSchema).meta({ description: "At most eight of each kind, newest first." }) })
  .meta({ id: "OperatorHits", examples: [{ data: [exampleOf(hitSchema)] }] });

const searchQuery = z.strictObject({
  q: text(2, 254).meta({
    description:
      "An identity of anything (`pay_…`, `rfd_…`, `set_…`, `dsp_…`, `evt_…`, `jrn_…`, `rcp_…`, `ctr_…`, `req_…`, `mer_…`), a `client_id`, a whole " +
      "`reference_id`, an acquirer's transaction, our operation key, the bank's reference of a payout, a payer's e-mail or telephone, a part of a merchant's name.",
    examples: ["order-1042"],
  }),
});

interface OperatorSearchParts {
  database: Database;
  payers: PayerData;
  gatewayCodes: () => readonly string[];
}

export function operatorSearchEndpoint(parts: OperatorSearchParts): OperatorEndpoint {
  return operatorEndpoint({
    method: "GET",
    operationId: "search",
    path: "/ops/v1/search",
    summary: "Find anything of anybody's, by what people hold in their hands",
    tag: "Search",
    role: "viewer",
    query: searchQuery,
    success: { description: "What was found.", schema: hitsSchema },
    async handle({ query }) {
      const looks = looksFor(query.q.trim(), parts);
      const found = await parts.database.pipeline(looks.map(({ statement }) => statement));
      const hits = looks.flatMap(({ kind }, at) => ((found[at] ?? []) as FoundRow[]).map((row) => hitOf(kind, row)));
      const once = [...new Map(hits.map((hit) => [hit.id, hit])).values()];
      return reply(200, { data: [...Map.groupBy(once, ({ kind }) => kind).values()].flatMap(newest) });
    },
  });
}

/** The newest of one kind: several statements may each find so many. */
const newest = (hits: readonly Hit[]): Hit[] => hits.toSorted((a, b) => (a.id < b.id ? 1 : -1)).slice(0, FOUND_MAX);

interface Look {
  kind: Kind;
  statement: Statement;
}

/** The statements that search for a text: one for an identity, several for any other text. */
function looksFor(q: string, { payers, gatewayCodes }: OperatorSearchParts): Look[] {
  const kind = (Object.keys(sought) as SoughtKind[]).find((one) => isId(one, q));
  if (kind) return [{ kind, statement: selectById(kind, q) }];
  if (isId("merchant", q)) return [{ kind: "merchant", statement: selectMerchantsLike({ id: q }) }];
  if (isClientId(q)) return [{ kind: "merchant", statement: selectMerchantsLike({ clientId: q }) }];
  const operation = readOperationKey(q);
  if (operation) return [{ kind: operation.kind, statement: selectById(operation.kind, operation.id) }];
  if (q === "") return [];
  const contact = /^[^\s@]+@[^\s@]+$|^\+\d{8,15}$/.test(q) ? selectByContact(payers.contactKey(q)) : [];
  return [
    ...(q.length <= 64 ? [{ kind: "payment" as const, statement: selectByReferenceId(q) }] : []),
    ...contact.map((statement) => ({ kind: "payment" as const, statement })),
    ...(/^[!-~]{1,64}$/.test(q)
      ? [
          { kind: "payment" as const, statement: selectPaidBy(q, gatewayCodes()) },
          { kind: "receipt" as const, statement: selectByTransaction(q, gatewayCodes()) },
          { kind: "settlement" as const, statement: selectByBankReference(q) },
        ]
      : []),
    ...(q.length <= 120 ? [{ kind: "merchant" as const, statement: selectMerchantsLike({ name: q }) }] : []),
  ];
}

function hitOf(kind: Kind, row: FoundRow): Hit {
  const id = idOf(kind, row.id);
  const { amount_minor: amount, currency, environment } = row;
  return {
    kind,
    id,
    title: row.title,
    merchant_id: idOf("merchant", row.merchant_id),
    merchant_name: row.merchant_name,
    environment,
    status: row.status,
    amount_minor: amount === null ? null : wireAmount(amount),
    currency,
    exponent: currency === null ? null : exponentOf(currency),
    at: wireTime(row.at ?? 0),
    url: urlOf(kind, id, row),
  };
}

function urlOf(kind: Kind, id: string, { merchant_id: owner, environment, status }: FoundRow): string | null {
  const merchant = `/ops/v1/merchants/${idOf("merchant", owner)}`;
  const book = `${merchant}/books/${environment ?? ""}`;
  const urls: Partial<Record<Kind, string>> = {
    merchant,
    payment: `/ops/v1/payments/${id}`,
    refund: `/ops/v1/refunds/${id}`,
    settlement: `${book}/settlements/${id}`,
    dispute: `${book}/disputes/${id}`,
    event: `${book}/events/${id}`,
    // One that waits for no decision is only listed.
    receipt: status === "unapplied" ? `/ops/v1/receipts/${id}` : `/ops/v1/receipts?status=${status}`,
    exception: `/ops/v1/reconciliation-exceptions/${id}`,
  };
  return urls[kind] ?? null;
}
