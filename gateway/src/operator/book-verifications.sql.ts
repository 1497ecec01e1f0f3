// All SQL of replays that operators asked for. Times are the database's: processes tell each other by them who has gone.
import type { Micros } from "../ground/clock.ts";
import { idOf, uuidOf } from "../ground/ids.ts";
import type { ReplayProgress } from "../ledger/verify.ts";
import { type Book, bookOfRow } from "../merchants/books.ts";
import type { Row, Statement } from "../store/database.ts";

/** Replays that are kept of a book: the newest. */
export const VERIFICATIONS_KEPT = 20;
/** A replay that was not heard of for so long has gone with whoever ran it. */
const GONE_SECONDS = 30;

export const verificationStatuses = ["running", "clean", "wrong", "stopped", "interrupted"] as const;
export type VerificationStatus = (typeof verificationStatuses)[number];

export interface Verification extends ReplayProgress {
  book: Book;
  id: string;
  status: VerificationStatus;
  startedBy: string;
  startedAt: Micros;
  endedAt: Micros | undefined;
  stoppedBy: string | undefined;
  /** How long the journals took so far. */
  journalsMs: number;
  wrong: string | undefined;
  head: string | undefined;
}

type VerificationKey = Pick<Verification, "book" | "id">;

const keyOf = ({ book, id }: VerificationKey): unknown[] => [uuidOf(book.merchantId), book.environment, uuidOf(id)];
const ofBook = "merchant_id = $1::uuid and environment = $2::environment";
const ofKey = `${ofBook} and verification_id = $3::uuid`;
const isGone = `status = 'running' and seen_at < statement_timestamp() - interval '${GONE_SECONDS} seconds'`;
const columns = `*, ${isGone} as is_gone`;

/** Of a replay that has gone the row is left: it runs no more. */
export function interruptGone({ merchantId, environment }: Book): Statement {
  return {
    text: `update book_verifications
set status = 'interrupted', ended_at = seen_at
where ${ofBook} and ${isGone}`,
    values: [uuidOf(merchantId), environment],
  };
}

/** Makes room for one more. */
export function forgetOldVerifications({ merchantId, environment }: Book): Statement {
  return {
    text: `delete from book_verifications
where ${ofBook} and status <> 'running' and verification_id <= (
  select verification_id
  from book_verifications
  where ${ofBook}
  order by verification_id desc
  offset ${VERIFICATIONS_KEPT - 1}
  limit 1
)`,
    values: [uuidOf(merchantId), environment],
  };
}

/** No row: the book is being replayed already. */
export function insertVerification(key: VerificationKey, startedBy: string): Statement {
  return {
    text: `insert into book_verifications (merchant_id, environment, verification_id, status, started_by)
values ($1::uuid, $2::environment, $3::uuid, 'running', $4::text)
on conflict do nothing
returning ${columns}`,
    values: [...keyOf(key), startedBy],
  };
}

/** Says how far a replay is. No row: it runs no more, whatever its runner thinks. */
export function tellProgress(key: VerificationKey, progress: ReplayProgress, journalsMs: number): Statement {
  return {
    text: `update book_verifications
set seen_at = clock_timestamp(), ${progressSet}
where ${ofKey} and status = 'running'
returning stopped_by`,
    values: [...keyOf(key), ...progressValues(progress, journalsMs)],
  };
}

const progressSet =
  "journals = $4::bigint, journals_in_all = $5::bigint, journals_ms = $6::bigint, checks = $7::integer, checks_in_all = $8::integer, rows_held = $9::bigint";

function progressValues(told: ReplayProgress, journalsMs: number): unknown[] {
  const { journals, journalsInAll, checks, checksInAll, rows } = told;
  return [journals, journalsInAll, Math.round(journalsMs), checks, checksInAll, rows];
}

export interface VerificationEnd {
  status: Exclude<VerificationStatus, "running">;
  wrong: string | undefined;
  head: string | undefined;
}

const WRONG_MAX = 2_000;

export function endVerification(
  key: VerificationKey,
  progress: ReplayProgress,
  journalsMs: number,
  { status, wrong, head }: VerificationEnd,
): Statement {
  return {
    text: `update book_verifications
set seen_at = clock_timestamp(), ended_at = clock_timestamp(), ${progressSet},
  status = $10::text, wrong = $11::text, head_hash = decode($12::text, 'hex')
where ${ofKey} and status = 'running'`,
    values: [
      ...keyOf(key),
      ...progressValues(progress, journalsMs),
      status,
      wrong?.slice(0, WRONG_MAX) ?? null,
      head ?? null,
    ],
  };
}

/** Asks a running replay to end, for whoever asked first. No row: it runs no more. */
export function askToStop(key: VerificationKey, by: string): Statement {
  return {
    text: `update book_verifications
set stopped_by = coalesce(stopped_by, $4::text)
where ${ofKey} and status = 'running'
returning ${columns}`,
    values: [...keyOf(key), by],
  };
}

/** The replays of a book, newest first. */
export function selectVerifications({ merchantId, environment }: Book): Statement {
  return {
    name: "select book verifications",
    text: `select ${columns}
from book_verifications
where ${ofBook}
order by verification_id desc
limit ${VERIFICATIONS_KEPT}`,
    values: [uuidOf(merchantId), environment],
  };
}

export function selectVerification(key: VerificationKey): Statement {
  return {
    name: "select book verification",
    text: `select ${columns} from book_verifications where ${ofKey}`,
    values: keyOf(key),
  };
}

export function verificationOfRow(row: Row): Verification {
  const isGone = row.is_gone === true;
  const seenAt = row.seen_at as Micros;
  return {
    book: bookOfRow(row),
    id: idOf("verification", row.verification_id as string),
    status: isGone ? "interrupted" : (row.status as VerificationStatus),
    startedBy: row.started_by as string,
    startedAt: row.started_at as Micros,
    endedAt: isGone ? seenAt : ((row.ended_at as Micros | null) ?? undefined),
    stoppedBy: (row.stopped_by as string | null) ?? undefined,
    journals: row.journals as bigint,
    journalsInAll: row.journals_in_all as bigint,
    journalsMs: Number(row.journals_ms),
    checks: row.checks as number,
    checksInAll: row.checks_in_all as number,
    rows: row.rows_held as bigint,
    wrong: (row.wrong as string | null) ?? undefined,
    head: (row.head_hash as Buffer | null)?.toString("hex"),
  };
}
