// The anchors of headings, made as GitHub makes them: links that work there work here. Pure.

/** Anchors of one page: of equal headings the second is `…-1`. */
export class Slugs {
  private readonly seen = new Map<string, number>();

  of(heading: string): string {
    const base = heading
      .toLowerCase()
      .trim()
      .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
      .replaceAll(" ", "-");
    const before = this.seen.get(base) ?? 0;
    this.seen.set(base, before + 1);
    return before === 0 ? base : `${base}-${before}`;
  }
}
