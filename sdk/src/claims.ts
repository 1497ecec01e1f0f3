// Records which webhook events were handled. A store claims an event before it is handled, so that only one of two concurrent copies runs.

/** `true`: the caller has the claim. `false`: the event was handled before. `"busy"`: another caller holds an unexpired claim. */
export type Claim = boolean | "busy";

/**
 * A record of handled events, such as a table with the event's id as its key. A claim expires after a minute or so: a process that died while it
 * handled an event never ends its claim, and the service delivers the event again.
 */
export interface EventStore {
  /** Claims an event that is unclaimed or whose claim has expired. Gives true to one caller only, however many ask at once. */
  claim(id: string): Claim | Promise<Claim>;
  /** Marks the event as handled: nobody can claim it any more. */
  done(id: string): unknown;
  /** Ends the claim of an event that was not handled: the next caller may claim it. */
  release(id: string): unknown;
}

/** Another process handles the event now. Answer 503, and the service delivers the event again. */
export class EventBusyError extends Error {
  constructor() {
    super("Another process handles this event just now.");
    this.name = "EventBusyError";
  }
}

/** A copy waits up to WAIT_MAX_MS for the claim of the other one, well within the ten seconds that an answer may take. */
const ASK_EVERY_MS = 250;
const WAIT_MAX_MS = 5_000;

export type Sleep = (ms: number) => Promise<unknown>;
const sleep: Sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Claims an event: true when the caller is to handle it, false when it was handled. Throws an EventBusyError when another claim persists. */
export async function claimed(store: Pick<EventStore, "claim">, id: string, wait: Sleep = sleep): Promise<boolean> {
  for (let waited = 0; ; waited += ASK_EVERY_MS) {
    // A store that gives nothing has not said that the event was handled: to answer 200 would lose it.
    const answer = ((await store.claim(id)) as Claim | null | undefined) ?? "busy";
    if (answer !== "busy") return answer;
    if (waited >= WAIT_MAX_MS) throw new EventBusyError();
    await wait(ASK_EVERY_MS);
  }
}

export interface MemoryStoreOptions {
  /** Milliseconds after which a claim expires that was neither done nor released. */
  claimMs?: number;
  /** Limit of remembered events; beyond it the oldest are forgotten. */
  max?: number;
  /** Unix milliseconds. */
  now?: () => number;
}

/** A store in memory for tests, trials and programs of one process: it is empty again when the process restarts. */
export function memoryStore({ claimMs = 60_000, max = 10_000, now = Date.now }: MemoryStoreOptions = {}): EventStore {
  /** When each event's claim expires, by id; infinity for an event that was handled. */
  const until = new Map<string, number>();
  return {
    claim(id) {
      const held = until.get(id) ?? 0;
      if (held === Infinity) return false;
      if (held > now()) return "busy";
      for (const oldest of until.keys()) {
        if (until.size < max) break;
        until.delete(oldest);
      }
      until.set(id, now() + claimMs);
      return true;
    },
    done: (id) => until.set(id, Infinity),
    release: (id) => until.get(id) === Infinity || until.delete(id),
  };
}
