// Uploads and downloads of evidence files: in pieces, so that memory holds a few hundred kilobytes of a file, whatever its size.
import { createHash } from "node:crypto";
import type { BookOwner } from "../commands/command-context.ts";
import { Fault, assert, validationFault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { KeyedCount } from "../ground/keyed-count.ts";
import type { Log } from "../ground/log.ts";
import type { SentFile } from "../http/sent-file.ts";
import type { Book } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import type { KeptFile } from "./dispute.ts";
import type { DisputeKey } from "./disputes.ts";
import { beginFile, keepFile, removeFile } from "./evidence-gathering.ts";
import { Inspection } from "./evidence-inspection.ts";
import {
  type EvidenceFile,
  deletePieces,
  fileOfRow,
  insertPiece,
  selectIsSandboxFull,
  selectKeptFile,
  selectPiece,
} from "./evidence.sql.ts";

/** The size of a piece; a check of the database has the same limit. */
export const PIECE_BYTES = 256 * 1024;

/** Uploads at the same time in this process; each takes less than a megabyte of memory. */
const UPLOADS_MAX = 32;
/** Uploads of one merchant at the same time; fewer once half of UPLOADS_MAX are taken, so that slow senders leave room for others. */
const MERCHANT_UPLOADS_MAX = 10;
const MERCHANT_UPLOADS_BUSY_MAX = 2;
/** Of a merchant's sandbox within a day: there anybody makes disputes, as many as they like, and what they upload stays. */
const SANDBOX_BYTES_MAX = 200 * 1024 * 1024;

interface EvidenceFilesParts {
  database: Database;
  lanes: Lanes;
  log: Log;
}

/** Reads the bytes of a kept file, piece by piece. */
export async function* readPieces(
  database: Pick<Database, "query">,
  { book, uuid }: { book: Book; uuid: string },
  { file_id: fileId, size_bytes: size }: KeptFile,
): AsyncGenerator<Buffer> {
  for (let piece = 0; piece * PIECE_BYTES < size; piece++) {
    const [row] = await database.query(selectPiece({ book, uuid, fileId }, piece));
    assert(row, `${fileId} lacks a piece`);
    yield row.bytes as Buffer;
  }
}

export class EvidenceFiles {
  private readonly parts: EvidenceFilesParts;
  /** Uploads under way, by merchant. */
  private readonly running = new KeyedCount();

  constructor(parts: EvidenceFilesParts) {
    this.parts = parts;
  }

  /**
   * Receives a file. It is invisible until it is complete and inspected; a rejected one leaves nothing behind. Throws OBJECT_NOT_FOUND,
   * ENVIRONMENT_MISMATCH, DISPUTE_RESOLVED, PAYLOAD_TOO_LARGE, VALIDATION_ERROR, RATE_LIMITED (too much at once, or in a sandbox's day), the stream's errors.
   */
  async receive(owner: BookOwner, key: DisputeKey, upload: SentFile): Promise<EvidenceFile> {
    const { lanes, database } = this.parts;
    const { merchantId } = owner.book;
    this.enter(merchantId);
    try {
      const [row] = await database.query(selectIsSandboxFull(owner.book, upload.sizeBytes, SANDBOX_BYTES_MAX));
      if (row?.full !== false)
        throw new Fault("RATE_LIMITED", {
          retryAfterSeconds: 3600,
          message: "A sandbox takes 200 MiB of files within a day, and yours has taken them. Try again tomorrow.",
        });
      const file = await lanes.move(merchantId, beginFile(owner, key, upload));
      try {
        const judged = await this.store(file, upload.body);
        return await lanes.move(merchantId, keepFile(owner, key, file.fileId, judged));
      } catch (error) {
        await this.discard(owner, key, file);
        throw error;
      }
    } finally {
      this.running.add(merchantId, -1);
    }
  }

  /** Removes a file and its bytes. Throws OBJECT_NOT_FOUND, ENVIRONMENT_MISMATCH, DISPUTE_RESOLVED. */
  async remove(owner: BookOwner, key: DisputeKey, fileId: string): Promise<void> {
    const { lanes, database } = this.parts;
    const file = await lanes.move(owner.book.merchantId, removeFile(owner, key, fileId));
    await database.query(deletePieces(file));
  }

  /** A kept file; undefined when there is none. */
  async find(book: Book, uuid: string, fileId: string): Promise<EvidenceFile | undefined> {
    if (!isId("dispute", uuid) || !isId("file", fileId)) return undefined;
    return this.parts.database.first(selectKeptFile({ book, uuid, fileId }), fileOfRow);
  }

  private enter(merchantId: string): void {
    const most = this.running.inAll < UPLOADS_MAX / 2 ? MERCHANT_UPLOADS_MAX : MERCHANT_UPLOADS_BUSY_MAX;
    if (this.running.of(merchantId) >= most || this.running.inAll >= UPLOADS_MAX)
      throw new Fault("RATE_LIMITED", {
        retryAfterSeconds: 2,
        message: "Too many files arrive at once. Send this one when another is done.",
      });
    this.running.add(merchantId, 1);
  }

  /** Writes the body in pieces, and inspects each piece before it is written. */
  private async store(file: EvidenceFile, body: AsyncIterable<Buffer>) {
    const { database } = this.parts;
    const inspection = new Inspection();
    const digest = createHash("sha256");
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, file.sizeBytes));
    let [filled, number, size] = [0, 0, 0];
    const write = async (): Promise<void> => {
      const bytes = piece.subarray(0, filled);
      inspection.take(bytes);
      digest.update(bytes);
      await database.query(insertPiece(file, number, bytes));
      number++;
      filled = 0;
    };
    for await (const part of body) {
      size += part.length;
      if (size > file.sizeBytes) throw otherSize();
      for (let at = 0; at < part.length;) {
        const copied = part.copy(piece, filled, at);
        at += copied;
        filled += copied;
        if (filled === PIECE_BYTES) await write();
      }
    }
    if (size !== file.sizeBytes) throw otherSize();
    if (filled > 0) await write();
    return { mediaType: inspection.end(), sha256: digest.digest() };
  }

  /** Deletes a rejected file at once. If that fails, the sweep of unfinished files deletes it later. */
  private async discard(owner: BookOwner, key: DisputeKey, file: EvidenceFile): Promise<void> {
    try {
      await this.remove(owner, key, file.fileId);
    } catch (error) {
      this.parts.log.info({ err: error, file_id: file.fileId }, "an upload that failed is left to the sweep");
    }
  }
}

function otherSize(): Fault {
  return validationFault("file", undefined, "The file has another size than was announced. Send it again.");
}
