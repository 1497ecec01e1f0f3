// The attempt recorder writes the results of attempts to the database, many in one statement. It loses none while the database answers.
import { setTimeout as pause } from "node:timers/promises";
import { type AttemptRecord, recordAttempts } from "../events/outbox.sql.ts";
import type { Log } from "../ground/log.ts";
import { type Database, isOutOfService } from "../store/database.ts";
import { deliveryTiming } from "./timing.ts";

const BATCH_MAX = 128;
const TRIES = 20;

export class AttemptRecorder {
  private readonly database: Database;
  private readonly log: Log;
  private readonly gatherMs: number;
  private finished: AttemptRecord[] = [];
  private recording: Promise<void> | undefined;
  private stopping = false;

  constructor(database: Database, log: Log, gatherMs = deliveryTiming.gatherMs) {
    this.database = database;
    this.log = log;
    this.gatherMs = gatherMs;
  }

  /** Queues a result. Results that come within `gatherMs`, or while a batch is being written, go into the next batch together. */
  record(record: AttemptRecord): void {
    this.finished.push(record);
    this.recording ??= this.recordAll();
  }

  private async recordAll(): Promise<void> {
    while (this.finished.length > 0) {
      if (this.finished.length < BATCH_MAX && !this.stopping) await pause(this.gatherMs);
      await this.recordBatch(this.finished.splice(0, BATCH_MAX));
    }
    // In the same step as the last look at the queue: a result that comes later begins anew.
    this.recording = undefined;
  }

  /** Writes a batch. Retries for up to TRIES half seconds while the database is unreachable; a record that it refuses is taken out. */
  private async recordBatch(batch: AttemptRecord[]): Promise<void> {
    const { database, log } = this;
    for (let tries = 1; ; tries++) {
      try {
        await database.query(recordAttempts(batch));
        return;
      } catch (error) {
        if (isOutOfService(error) && tries < TRIES && !this.stopping) {
          await pause(500);
          continue;
        }
        if (!isOutOfService(error) && batch.length > 1) {
          for (const record of batch) await this.recordBatch([record]);
          return;
        }
        const [refused] = batch;
        if (!isOutOfService(error) && refused && refused.reason !== PLAIN_REASON) {
          log.error(
            { err: error, event_id: refused.eventId },
            "an attempt cannot be recorded as it went; recording that it was made",
          );
          await this.recordBatch([plain(refused)]);
          return;
        }
        // The lease ends, and the delivery is sent again under the same attempt number: delivered at least once, never lost.
        log.warn({ err: error, attempts: batch.length }, "attempts could not be recorded");
        return;
      }
    }
  }

  /** Writes the remaining results, without retries when the database is unreachable. */
  async stop(): Promise<void> {
    this.stopping = true;
    while (this.recording) await this.recording;
  }
}

const PLAIN_REASON = "The attempt was made; what came back could not be kept.";

/** The record without any text of the receiver: the database must accept one record, or the delivery would be attempted for ever. */
function plain(record: AttemptRecord): AttemptRecord {
  return {
    ...record,
    reason: PLAIN_REASON,
    status: undefined,
    address: undefined,
    requestHeaders: "{}",
    responseHeaders: undefined,
    responseBody: undefined,
  };
}
