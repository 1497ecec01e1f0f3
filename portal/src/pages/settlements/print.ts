// Printing a settlement: its items are fetched for paper, because the page shows one part of them at a time.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { type Action, useAction } from "../../api/action.ts";
import { useApi } from "../../api/place.ts";
import type { Schema } from "../../api/types.ts";

type Items = Schema<"SettlementItemList">;

/** Paper of a dozen pages; who needs more takes the CSV statement. */
export const PRINTED_MAX = 500;
const FETCHED_AT_ONCE = 100;

interface Printing {
  print: Action<undefined, true>;
  /** While the browser prints: all items, or the first PRINTED_MAX. */
  printed: Items | undefined;
}

export function usePrint(uuid: string): Printing {
  const api = useApi();
  const queries = useQueryClient();
  const [printed, setPrinted] = useState<Items | undefined>(undefined);
  // The page stays when its address becomes another settlement's.
  const shown = useRef(uuid);
  useEffect(() => {
    shown.current = uuid;
    return () => setPrinted(undefined);
  }, [uuid]);
  const print = useAction<undefined, true>(
    async () => {
      const part = (after?: string) => {
        const query = { limit: FETCHED_AT_ONCE, starting_after: after };
        return queries.fetchQuery(api.read("/v1/settlements/{uuid}/items", { path: { uuid }, query }));
      };
      let items = await part();
      while (items.has_more && items.next_cursor !== null && items.data.length < PRINTED_MAX) {
        const next = await part(items.next_cursor);
        items = { ...next, data: [...items.data, ...next.data] };
      }
      if (shown.current === uuid) setPrinted(items);
      return true;
    },
    { refresh: ["nothing"] },
  );
  useEffect(() => {
    if (!printed) return undefined;
    const end = (): void => setPrinted(undefined);
    addEventListener("afterprint", end);
    window.print();
    return () => removeEventListener("afterprint", end);
  }, [printed]);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "p" || !(event.metaKey || event.ctrlKey) || event.shiftKey || event.altKey)
        return;
      event.preventDefault();
      void print.run(undefined);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  return { print, printed };
}
