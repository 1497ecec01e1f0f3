// Counts what is held at present, in all and under each key.
export class KeyedCount {
  inAll = 0;
  private readonly counts = new Map<string, number>();

  of(key: string): number {
    return this.counts.get(key) ?? 0;
  }

  add(key: string, change: 1 | -1): void {
    this.inAll += change;
    const count = this.of(key) + change;
    if (count > 0) this.counts.set(key, count);
    else this.counts.delete(key);
  }

  /** The keys under which more than `most` are held. */
  over(most: number): string[] {
    return [...this.counts].filter(([, count]) => count > most).map(([key]) => key);
  }
}
