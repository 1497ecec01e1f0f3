// Lists: a page as the API gives it, or all of them, one object after the other.

export interface Page<Item> {
  data: Item[];
  has_more: boolean;
  /** Send it as `starting_after` for the next page; null on the last one. */
  next_cursor: string | null;
}

/**
 * What a list call gives. `for await (const payment of list)` goes through all pages, asking for the next one when it is needed;
 * `await list` gives the first page alone.
 */
export class List<Item> implements AsyncIterable<Item>, PromiseLike<Page<Item>> {
  readonly #ask: (cursor: string | undefined) => Promise<Page<Item>>;

  constructor(ask: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#ask = ask;
  }

  /** Page after page. Throws what the call throws; what was given before stays good. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let cursor: string | undefined;
    for (;;) {
      const page = await this.#ask(cursor);
      yield page;
      // A cursor that stands still would go round for ever.
      if (!page.has_more || page.next_cursor === null || page.next_cursor === cursor) return;
      cursor = page.next_cursor;
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
