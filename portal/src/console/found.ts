// Where the console shows an object that the API names by its kind and identity.
import { at } from "./paths.ts";

interface Named {
  kind: string;
  id: string;
  /** Whose it is, where its address says so. */
  merchant?: { merchant_id: string; environment: string | null };
}

/** Of objects whose address begins with their book. */
const within =
  (path: (merchant: string, environment: string, id: string) => string) =>
  ({ id, merchant }: Named): string | undefined =>
    merchant && merchant.environment !== null ? path(merchant.merchant_id, merchant.environment, id) : undefined;

const pages: Record<string, (named: Named) => string | undefined> = {
  payment: ({ id }) => at.payment(id),
  refund: ({ id }) => at.refund(id),
  merchant: ({ id }) => at.merchant(id),
  dispute: within(at.dispute),
  settlement: within(at.settlement),
  event: within(at.event),
  receipt: ({ id }) => at.receipt(id),
  exception: ({ id }) => at.exception(id),
  approval: ({ id }) => at.approval(id),
  key: ({ id, merchant }) => merchant && at.key(merchant.merchant_id, id),
};

const kinds: Record<string, string> = {
  pay: "payment",
  rfd: "refund",
  dsp: "dispute",
  set: "settlement",
  evt: "event",
};

/** The page of an object; undefined where the console has none of its kind. */
export function pageOf(named: Named): string | undefined {
  return pages[named.kind]?.(named);
}

/** The page of what a merchant's key changed, whose kind its identity says. */
export function pageOfChanged(id: string, merchantId: string, environment: string): string | undefined {
  const kind = kinds[id.split("_", 1)[0] ?? ""] ?? "";
  return pageOf({ kind, id, merchant: { merchant_id: merchantId, environment } });
}
