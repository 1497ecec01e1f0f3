// The position of a listener, kept in a file so that a crash, a sleep or a restart loses nothing and repeats next to nothing.
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { UnexpectedAnswer } from "../answers.ts";
import { Trouble } from "../failures.ts";
import { CLIENT_ID } from "../profiles.ts";
import { isEventId, justBefore } from "./ids.ts";

export const SEEN_MAX = 1_000;

/**
 * Every event up to `after` was handed on, and so was each event of `seen`, which lie beyond it. Each response of the service says where its
 * watermark is (`nextAfter`): no event can appear up to it any more. Events up to the watermark are done with once they were handed on, in their
 * order. Events beyond it are so young that older ones may still appear beside them: their ids are remembered and left out of later responses,
 * until the watermark has passed them too.
 */
export interface Position {
  after: string;
  seen: readonly string[];
}

/** The position once an event of a response, and all before it in that response, were handed on. */
export function handedOn(position: Position, id: string, nextAfter: string): Position {
  return id <= nextAfter ? advance(position, id, []) : advance(position, nextAfter, [id]);
}

/** The position once all events of a response were handed on. */
export function finished(position: Position, nextAfter: string): Position {
  return advance(position, nextAfter, []);
}

function advance({ after, seen }: Position, to: string, newlySeen: readonly string[]): Position {
  const further = to > after ? to : after;
  return { after: further, seen: [...seen, ...newlySeen].filter((id) => id > further) };
}

export class Cursor {
  private readonly file: string;
  private readonly lock: string;
  private readonly clientId: string;
  private kept: Position | undefined;

  /**
   * Takes the cursor of a client for this process. Throws `Trouble` when another process has it, or it cannot be read, and for what is no client: its id
   * becomes the name of a file.
   */
  constructor(directory: string, clientId: string) {
    if (!CLIENT_ID.test(clientId))
      throw new Trouble(
        `${clientId.slice(0, 100)} is not the client_id of a key. One looks like ak_test_0123456789abc.`,
      );
    this.clientId = clientId;
    this.file = join(directory, `${clientId}.json`);
    this.lock = join(directory, `${clientId}.lock`);
    mkdirSync(directory, { recursive: true, mode: 0o711 });
    this.claim();
    try {
      this.kept = this.read();
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** Undefined before the first response. */
  get position(): Position | undefined {
    return this.kept;
  }

  /** The newest event that was handed on. */
  get newest(): string | undefined {
    return this.kept && [this.kept.after, ...this.kept.seen].reduce((newest, id) => (id > newest ? id : newest));
  }

  begin(position: Position): void {
    this.keep(position);
  }

  /** Goes back to an event: it is handed on again, and so is all that came after it. Throws `Trouble` for one that was not handed on yet. */
  goBackTo(id: string): void {
    if (this.newest === undefined || id > this.newest)
      throw new Trouble(`${id} has not been forwarded here yet. Start without --from to forward new events.`);
    this.keep({ after: justBefore(id), seen: [] });
  }

  handedOn(id: string, nextAfter: string): void {
    this.keep(handedOn(this.begun, id, nextAfter));
  }

  finished(nextAfter: string): void {
    if (nextAfter > this.begun.after) this.keep(finished(this.begun, nextAfter));
  }

  release(): void {
    rmSync(this.lock, { force: true });
  }

  private get begun(): Position {
    if (!this.kept) throw new Error("a cursor moves before it has begun");
    return this.kept;
  }

  /**
   * Writes a new file and moves it into place: whenever the process dies, a whole file is there. Throws `UnexpectedAnswer` for a position that could not
   * be read again.
   */
  private keep(position: Position): void {
    if (!isPosition(position)) throw new UnexpectedAnswer("the place to go on from is no id of an event");
    const aside = `${this.file}.new`;
    const handle = openSync(aside, "w", 0o600);
    try {
      writeSync(handle, `${JSON.stringify({ client_id: this.clientId, ...position })}\n`);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(aside, this.file);
    this.kept = position;
  }

  private read(): Position | undefined {
    let text: string;
    try {
      text = readFileSync(this.file, "utf8");
    } catch (error) {
      if ((error as { code?: unknown } | null)?.code === "ENOENT") return undefined;
      throw error;
    }
    try {
      return positionOf(JSON.parse(text));
    } catch {
      throw new Trouble(`${this.file} is damaged. Remove it to listen from now on; earlier events are not forwarded.`);
    }
  }

  /** Takes the lock: two listeners with one cursor would each hand on a part. A lock whose process is gone is ignored. */
  private claim(): void {
    for (let round = 0; ; round++) {
      try {
        writeFileSync(this.lock, String(process.pid), { flag: "wx", mode: 0o600 });
        return;
      } catch (error) {
        if ((error as { code?: unknown } | null)?.code !== "EEXIST") throw error;
      }
      const owner = Number(readFileSync(this.lock, "utf8"));
      if (round > 2 || (owner !== process.pid && isRunning(owner))) {
        throw new Trouble(
          `Another listener for ${this.clientId} is running here (process ${owner}). Stop it first; if there is none, remove ${this.lock}`,
        );
      }
      this.release();
    }
  }
}

/** Throws for content that this program never wrote. */
function positionOf(value: unknown): Position {
  const { client_id: clientId, after, seen } = value as { client_id: unknown; after: unknown; seen: unknown };
  const position = { after, seen };
  if (typeof clientId !== "string" || !isPosition(position)) throw new TypeError("no position");
  return position;
}

function isPosition(value: { after: unknown; seen: unknown }): value is Position {
  const { after, seen } = value;
  return isEventId(after) && Array.isArray(seen) && seen.length <= SEEN_MAX && seen.every(isEventId);
}

function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: unknown } | null)?.code === "EPERM";
  }
}
