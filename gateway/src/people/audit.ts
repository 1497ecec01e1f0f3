// The audit of changes made by persons: append-only rows without secrets, one written before the change and one before its answer.
import type { Clock } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { newId } from "../ground/ids.ts";
import type { Reply } from "../ground/reply.ts";
import { type Database, isOutOfService } from "../store/database.ts";
import {
  type AuditedCall,
  type MerchantAuditEntry,
  insertPeopleAudit,
  merchantAuditOfRow,
  selectMerchantAudit,
  selectMerchantAuditEntry,
} from "./audit.sql.ts";

type Audited = Pick<Reply, "status" | "audited" | "subject">;

/** What is kept of an answer: what its endpoint says of it, otherwise the object that it shows. */
const detailsOf = ({ audited, subject }: Audited) => audited ?? (subject && { object: subject.id });

export class PeopleAudit {
  private readonly database: Database;
  private readonly clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.database = database;
    this.clock = clock;
  }

  /** Performs a change between two rows of the audit, as `betweenRows` does. */
  around<Answer extends Audited>(call: AuditedCall, perform: () => Promise<Answer>): Promise<Answer> {
    const write = (status?: number, answer?: Answer): Promise<unknown> => {
      const now = this.clock.now();
      const auditId = status === undefined ? call.requestId : newId("request", now);
      const row = { ...call, auditId, at: now, status, details: answer && detailsOf(answer) };
      return this.database.query(insertPeopleAudit([row]));
    };
    return betweenRows({ asked: write, answered: write }, perform);
  }

  /** At most `count` audit entries of a merchant, newest first, starting after the entry `before`. */
  async list(merchantId: string, before: string | undefined, count: number): Promise<MerchantAuditEntry[]> {
    return (await this.database.query(selectMerchantAudit(merchantId, before, count))).map(merchantAuditOfRow);
  }

  /** True when the audit entry belongs to the merchant. */
  async has(merchantId: string, auditId: string): Promise<boolean> {
    return (await this.database.query(selectMerchantAuditEntry(merchantId, auditId))).length > 0;
  }
}

interface AuditRows<Answer> {
  asked: () => Promise<unknown>;
  /** `answer` is undefined when the change threw. */
  answered: (status: number, answer?: Answer) => Promise<unknown>;
}

/**
 * Performs a change between two rows of an audit. When the first row cannot be written, nothing is changed; when the second cannot, the caller is
 * not told of a success that is not on record. Both throw SERVICE_UNAVAILABLE. Otherwise gives and throws what `perform` does.
 */
export async function betweenRows<Answer extends { status: number }>(
  { asked, answered }: AuditRows<Answer>,
  perform: () => Promise<Answer>,
): Promise<Answer> {
  await recorded(asked(), "This call could not be recorded, so nothing was changed. Retry shortly.");
  let done: Answer;
  try {
    done = await perform();
  } catch (error) {
    await recorded(answered(statusOf(error)), UNRECORDED);
    throw error;
  }
  await recorded(answered(done.status, done), UNRECORDED);
  return done;
}

const UNRECORDED =
  "The outcome of this call could not be recorded. Read the object before you repeat it: it may have been changed.";

async function recorded(write: Promise<unknown>, message: string): Promise<void> {
  try {
    await write;
  } catch (error) {
    throw new Fault("SERVICE_UNAVAILABLE", { message, internal: error });
  }
}

/** HTTP status of the answer to a call that threw `error`. */
function statusOf(error: unknown): number {
  if (error instanceof Fault) return error.status;
  return isOutOfService(error) ? 503 : 500;
}
