// Counters by name that all begin again from 0 with each span of time, such as a second or a minute.
export class FixedWindow {
  private readonly span: number;
  private start = -1;
  private counts = new Map<string, number>();

  /** `span`: in the unit of the times that are given. */
  constructor(span: number) {
    this.span = span;
  }

  /** Counts one. Gives how many were counted under this name in the span of `now`, with this one. */
  count(name: string, now: number): number {
    const start = now - (now % this.span);
    if (start !== this.start) {
      this.start = start;
      this.counts = new Map();
    }
    const count = (this.counts.get(name) ?? 0) + 1;
    this.counts.set(name, count);
    return count;
  }
}
