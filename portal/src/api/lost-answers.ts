// Keys of changes that got no answer. Asked for again, also by a form that was closed and opened anew, such a change takes effect once.

interface Lost {
  key: string;
  at: number;
}

/** After this time the same change is another wish: whoever asks for it has seen what the first one did. */
const KEPT_MS = 15 * 60_000;
const KEPT_MAX = 100;

/** The changes of this tab without an answer, by what they are, the oldest first. */
export class LostAnswers {
  private readonly lost = new Map<string, Lost>();

  /** The key of an earlier try of this change that got no answer; otherwise `key`. `now` in milliseconds. */
  keyOf(change: string, key: string, now: number): string {
    const before = this.lost.get(change);
    return before && now - before.at < KEPT_MS ? before.key : key;
  }

  /** Keeps the key of a change whose outcome is unknown. */
  keep(change: string, key: string, now: number): void {
    this.lost.delete(change);
    this.lost.set(change, { key, at: now });
    for (const oldest of this.lost.keys()) {
      if (this.lost.size <= KEPT_MAX) break;
      this.lost.delete(oldest);
    }
  }

  /** Forgets a change that was answered. */
  forget(change: string): void {
    this.lost.delete(change);
  }
}
