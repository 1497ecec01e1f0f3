// Which events were handled. A store claims an event before it is handled: of two copies that come at the same time one runs.

/** `true`: it is yours. `false`: it was handled. `"busy"`: somebody else handles it, and their claim is not over. */
export type Claim = boolean | "busy";

/**
 * Remembers which events were handled, such as a table with the event's id as its key. A claim is over after a minute or so: a process that died
 * while it handled an event never says what became of it, and the event comes again.
 */
export interface EventStore {
  /** Takes an event that nobody has, or whose claim is over: true for one caller alone, however many ask at once. */
  claim(id: string): Claim | Promise<Claim>;
  /** The event was handled: nobody gets it any more. */
  done(id: string): unknown;
  /** It was not: who asks next may have it. */
  release(id: string): unknown;
}

/** Somebody else handles the event just now. Answer 503, and nothing is lost: it comes again. */
export class EventBusyError extends Error {
  constructor() {
    super("Another process handles this event just now.");
    this.name = "EventBusyError";
  }
}

/** A copy waits for the one before it, well within the ten seconds that an answer may take. */
const ASK_EVERY_MS = 250;
const WAIT_MAX_MS = 5_000;

export type Sleep = (ms: number) => Promise<unknown>;
const sleep: Sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Whether an event is the caller's to handle; false where it was handled. Throws an EventBusyError while that is not decided. */
export async function claimed(store: Pick<EventStore, "claim">, id: string, wait: Sleep = sleep): Promise<boolean> {
  for (let waited = 0; ; waited += ASK_EVERY_MS) {
    const answer = await store.claim(id);
    if (answer !== "busy") return answer;
    if (waited >= WAIT_MAX_MS) throw new EventBusyError();
    await wait(ASK_EVERY_MS);
  }
}

export interface MemoryStoreOptions {
  /** How long a claim holds that nobody ends. */
  claimMs?: number;
  /** Events that are remembered; the oldest are forgotten beyond. */
  max?: number;
  /** Unix milliseconds. */
  now?: () => number;
}

/** A store for tests, trials and programs of one process: it forgets what it knew when the process ends. */
export function memoryStore({ claimMs = 60_000, max = 10_000, now = Date.now }: MemoryStoreOptions = {}): EventStore {
  /** By id, until when it is claimed: forever once it was handled. */
  const until = new Map<string, number>();
  return {
    claim(id) {
      const held = until.get(id) ?? 0;
      if (held === Number.POSITIVE_INFINITY) return false;
      if (held > now()) return "busy";
      for (const oldest of until.keys()) {
        if (until.size < max) break;
        until.delete(oldest);
      }
      until.set(id, now() + claimMs);
      return true;
    },
    done: (id) => until.set(id, Number.POSITIVE_INFINITY),
    release: (id) => until.delete(id),
  };
}
