// Makes the anchors of headings as GitHub does, so that links work in both places. Pure.

/** The anchors of one page: a second equal heading gets `…-1`. */
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
