// The items of a settlement batch in lists: each payment, refund, receipt and dispute, with sums that add up to the batch.
import { z } from "zod";
import { wholeFrom } from "../ground/whole.ts";
import { wireTime } from "../ground/clock.ts";
import { exponentOf, wireAmount } from "../ground/money.ts";
import { isId } from "../ground/ids.ts";
import { type Reply, reply } from "../ground/reply.ts";
import { exampleIds, exampleTimes } from "../http/examples.ts";
import { limitOf, unknownCursor } from "../http/lists.ts";
import {
  currencyCode,
  exampleOf,
  exponentField,
  identity,
  limitQuery,
  listSchema,
  minorAmount,
  timestamp,
  withExample,
} from "../http/shapes.ts";
import type { Database } from "../store/database.ts";
import { selectItemPage, selectItemSums } from "./items.sql.ts";
import type { Settlement } from "./settlement.ts";
import { statementLineOfRow } from "./settlements.sql.ts";

const kinds = ["payment", "receipt", "refund", "dispute"] as const;
const kindField = z.enum(kinds).meta({
  id: "SettlementItemKind",
  description: "Payments and credited receipts add to a batch; refunds and lost disputes take away.",
});

export const itemsQuery = z.strictObject({
  limit: limitQuery,
  starting_after: z
    .string()
    .refine((id) => kinds.some((kind) => isId(kind, id)), "is not the identity of an item")
    .optional()
    .meta({ description: "`id` of the last item received.", examples: [exampleIds.payment] }),
});

const itemSchema = withExample(
  z.strictObject({
    kind: kindField,
    id: z.string().meta({ description: "Of the payment, receipt, refund or dispute.", examples: [exampleIds.payment] }),
    payment_reference: identity("payment"),
    reference_id: z.string().meta({ description: "Your own identity of the order.", examples: ["order-1042"] }),
    payment_method: z.string().meta({ examples: ["qris"] }),
    currency: currencyCode,
    exponent: exponentField,
    amount_minor: minorAmount("Added or taken away, by kind.", 15_000_000),
    fee_minor: minorAmount("Its fee.", 105_000),
    occurred_at: timestamp,
  }),
  { id: "SettlementItem" },
  { occurred_at: exampleTimes.paid },
);

const sumSchema = z
  .strictObject({
    kind: kindField,
    items: wholeFrom(1).meta({ examples: [1] }),
    amount_minor: minorAmount("All amounts of the kind.", 15_000_000),
    fee_minor: minorAmount("All fees of the kind.", 105_000),
  })
  .meta({ id: "SettlementSum", description: "What the items of one kind add up to." });

const list = listSchema(itemSchema, "SettlementItemPage");
export const itemListSchema = list
  .extend({ sums: z.array(sumSchema).meta({ description: "Of the whole batch: they add up to its net." }) })
  .meta({
    id: "SettlementItemList",
    examples: [
      { ...exampleOf(list), sums: [{ kind: "payment", items: 1, amount_minor: 15_000_000, fee_minor: 105_000 }] },
    ],
  });

/** A page of a batch's items. `query` has passed `itemsQuery`. Throws VALIDATION_ERROR for a cursor that is no item of the batch. */
export async function listItems(
  database: Database,
  settlement: Settlement,
  query: z.infer<typeof itemsQuery>,
): Promise<Reply> {
  const limit = limitOf(query);
  const { starting_after: after } = query;
  const kind = kinds.find((name) => after !== undefined && isId(name, after));
  const [rows = [], sums = []] = await database.pipeline([
    selectItemPage(settlement, kind && after ? { kind, id: after } : undefined, limit),
    selectItemSums(settlement),
  ]);
  const { currency } = settlement;
  const lines = rows.map(statementLineOfRow);
  // The item of the cursor comes first.
  if (after !== undefined && lines.shift()?.id !== after) throw unknownCursor(after);
  const data = lines.slice(0, limit).map((line) => ({
    kind: line.kind,
    id: line.id,
    payment_reference: line.paymentReference,
    reference_id: line.referenceId,
    payment_method: line.method,
    currency,
    exponent: exponentOf(currency),
    amount_minor: wireAmount(line.amountMinor),
    fee_minor: wireAmount(line.feeMinor),
    occurred_at: wireTime(line.occurredAt),
  }));
  const more = lines.length > limit;
  return reply(200, {
    data,
    has_more: more,
    next_cursor: more ? (data.at(-1)?.id ?? null) : null,
    sums: sums.map((sum) => ({
      kind: sum.kind,
      items: Number(sum.items as bigint),
      amount_minor: wireAmount(sum.amount_minor as bigint),
      fee_minor: wireAmount(sum.fee_minor as bigint),
    })),
  });
}
