// Where the console shows an object that the API names by its kind and identity.
import { at } from "./paths.ts";

export interface Named {
  kind: string;
  id: string;
}

const pages: Record<string, (named: Named) => string> = {
  payment: ({ id }) => at.payment(id),
  refund: ({ id }) => at.refund(id),
};

/** The page of an object; undefined where the console has none of its kind. */
export function pageOf(named: Named): string | undefined {
  return pages[named.kind]?.(named);
}
