// Where the console shows an object that the API names by its kind and identity.
import { at } from "./paths.ts";

export interface Named {
  kind: string;
  id: string;
  /** Whose it is, where its address says so. */
  merchant?: { merchant_id: string; environment: string | null };
}

const pages: Record<string, (named: Named) => string | undefined> = {
  payment: ({ id }) => at.payment(id),
  refund: ({ id }) => at.refund(id),
};

/** The page of an object; undefined where the console has none of its kind. */
export function pageOf(named: Named): string | undefined {
  return pages[named.kind]?.(named);
}
