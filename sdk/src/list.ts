// Lists: one page as the API gives it, or the objects of all pages, one after the other.
import { GerbangError } from "./errors.ts";

export interface Page<Item> {
  data: Item[];
  has_more: boolean;
  /** Send it as `starting_after` to get the next page; null on the last page. */
  next_cursor: string | null;
}

/**
 * The result of a list call. `for await (const payment of list)` goes through all pages and fetches each one when it is needed;
 * `await list` gives the first page only.
 */
export class List<Item> implements AsyncIterable<Item>, PromiseLike<Page<Item>> {
  readonly #ask: (cursor: string | undefined) => Promise<Page<Item>>;

  constructor(ask: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#ask = ask;
  }

  /** Fetches page after page. Throws what the call throws; pages before that stay valid. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    const seen = new Set<string>();
    let cursor: string | undefined;
    for (;;) {
      const page = await this.#ask(cursor);
      yield page;
      if (!page.has_more) return;
      cursor = page.next_cursor ?? "";
      // Without a new cursor it would go on for ever; to end here would leave objects out unnoticed. A page may be empty and have more after it.
      if (typeof cursor !== "string" || cursor === "" || seen.has(cursor))
        throw new GerbangError({ code: "ANSWER_UNREADABLE", message: "The list has more, and does not say where." });
      seen.add(cursor);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  /** The first `most` objects. */
  async take(most: number): Promise<Item[]> {
    const items: Item[] = [];
    if (most <= 0) return items;
    for await (const item of this) if (items.push(item) >= most) break;
    return items;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- `await` gives the first page
  then<Result = Page<Item>, Refused = never>(
    onPage?: ((page: Page<Item>) => Result | PromiseLike<Result>) | null,
    onError?: ((error: unknown) => Refused | PromiseLike<Refused>) | null,
  ): Promise<Result | Refused> {
    return this.#ask(undefined).then(onPage, onError);
  }
}
