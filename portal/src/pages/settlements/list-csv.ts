// The batches of the list as CSV, one a line, for whoever compares payouts with the bank's account: all that the filters let through.
import { useQueryClient } from "@tanstack/react-query";
import { type Action, useAction } from "../../api/action.ts";
import { ApiError } from "../../api/error.ts";
import { useApi } from "../../api/place.ts";
import type { Schema } from "../../api/types.ts";
import { save } from "../../ui/download.ts";
import { digitsOf } from "../../ui/money.tsx";

type Settlement = Schema<"Settlement">;
interface Asked {
  status?: Settlement["status"] | undefined;
  currency?: string | undefined;
  date_from?: string | undefined;
  date_to?: string | undefined;
}

/** Some ten years of a batch each business day, in 25 requests. */
const LINES_MAX = 2_500;
const FETCHED_AT_ONCE = 100;

export function useListCsv(asked: Asked): Action<undefined, true> {
  const api = useApi();
  const queries = useQueryClient();
  return useAction<undefined, true>(
    async () => {
      const batches = await allBatches((after) =>
        queries.fetchQuery(
          api.read("/v1/settlements", { query: { ...asked, limit: FETCHED_AT_ONCE, starting_after: after } }),
        ),
      );
      save(new Blob([csvOf(batches)], { type: "text/csv" }), "settlements.csv");
      return true;
    },
    { refresh: ["nothing"] },
  );
}

interface BatchPage {
  data: readonly Settlement[];
  has_more: boolean;
  next_cursor: string | null;
}

/** The batches of all pages. Throws when there are more than a file takes: one that ends in the middle would be taken for the whole. */
export async function allBatches(read: (after: string | undefined) => Promise<BatchPage>): Promise<Settlement[]> {
  const batches: Settlement[] = [];
  let after: string | undefined;
  do {
    if (batches.length >= LINES_MAX) {
      const message = `These are more than ${LINES_MAX} payouts. Choose a shorter time, and download it in parts.`;
      throw new ApiError({ code: "TOO_MANY", message, status: 400 });
    }
    const page = await read(after);
    batches.push(...page.data);
    after = page.has_more ? (page.next_cursor ?? undefined) : undefined;
  } while (after !== undefined);
  return batches;
}

const columns = [
  "uuid",
  "status",
  "period_start",
  "period_end",
  "paid_at",
  "bank_reference",
  "payment_count",
  "currency",
  "gross_minor",
  "fee_minor",
  "refund_minor",
  "net_minor",
] as const satisfies (keyof Settlement)[];

/** The names are the API's, as in the statement of one batch; `net` is in the currency's own units. */
export function csvOf(batches: readonly Settlement[]): string {
  const lines = batches.map((batch) => [...columns.map((name) => fieldOf(batch[name])), netOf(batch)]);
  return [[...columns, "net"], ...lines].map((fields) => `${fields.join(",")}\r\n`).join("");
}

/** A spreadsheet takes no text of a bank for a formula. */
function fieldOf(value: string | number | null): string {
  if (typeof value !== "string") return value === null ? "" : String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const netOf = ({ net_minor: minor, exponent }: Settlement): string =>
  digitsOf(minor, exponent).replaceAll(",", "").replace("\u2212", "-");
