// All SQL of background replays. Times are the database's, since processes use them to detect replays whose process is gone.
import type { Micros } from "../ground/clock.ts";
import { idOf, uuidOf } from "../ground/ids.ts";
import type { ReplayProgress } from "../ledger/verify.ts";
import { type Book, bookOfRow, bookValues } from "../merchants/books.ts";
import { type Row, type Statement, optional } from "../store/database.ts";

/** The newest replays of a book, which are kept. */
export const VERIFICATIONS_KEPT = 20;
/** A replay without progress for this time counts as interrupted: its process is gone. */
const GONE_SECONDS = 30;

export const verificationStatuses = ["running", "clean", "wrong", "stopped", "interrupted"] as const;
type VerificationStatus = (typeof verificationStatuses)[number];

export interface Verification extends ReplayProgress {
  book: Book;
  id: string;
  status: VerificationStatus;
  startedBy: string;
  startedAt: Micros;
  endedAt: Micros | undefined;
  stoppedBy: string | undefined;
  /** Time spent on the journals so far. */
  journalsMs: number;
  wrong: string | undefined;
  head: string | undefined;
}

type VerificationKey = Pick<Verification, "book" | "id">;

const keyOf = ({ book, id }: VerificationKey): unknown[] => [...bookValues(book), uuidOf(id)];
const ofBook = "merchant_id = $1::uuid and environment = $2::environment";
const ofKey = `${ofBook} and verification_id = $3::uuid`;
const isGone = `status = 'running' and seen_at < statement_timestamp() - interval '${GONE_SECONDS} seconds'`;
const columns = `*, ${isGone} as is_gone`;

/** Marks replays whose process is gone as interrupted. */
export function interruptGone({ merchantId, environment }: Book): Statement {
  return {
    text: `update book_verifications
set status = 'interrupted', ended_at = seen_at
where ${ofBook} and ${isGone}`,
    values: [uuidOf(merchantId), environment],
  };
}

/** Deletes old replays, so that one more fits within VERIFICATIONS_KEPT. */
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

/** Gives no row when a replay of the book is running already. */
export function insertVerification(key: VerificationKey, startedBy: string): Statement {
  return {
    text: `insert into book_verifications (merchant_id, environment, verification_id, status, started_by)
values ($1::uuid, $2::environment, $3::uuid, 'running', $4::text)
on conflict do nothing
returning ${columns}`,
    values: [...keyOf(key), startedBy],
  };
}

/** Records progress. Gives no row when the replay counts as ended, even if its process still runs it. */
export function saveProgress(key: VerificationKey, progress: ReplayProgress, journalsMs: number): Statement {
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

function progressValues(progress: ReplayProgress, journalsMs: number): unknown[] {
  const { journals, journalsInAll, checks, checksInAll, rows } = progress;
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

/** Requests a running replay to stop; the first operator who asks is recorded. Gives no row when the replay has ended. */
export function askToStop(key: VerificationKey, by: string): Statement {
  return {
    text: `update book_verifications
set stopped_by = coalesce(stopped_by, $4::text)
where ${ofKey} and status = 'running'
returning ${columns}`,
    values: [...keyOf(key), by],
  };
}

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
    endedAt: isGone ? seenAt : optional<Micros>(row.ended_at),
    stoppedBy: optional<string>(row.stopped_by),
    journals: row.journals as bigint,
    journalsInAll: row.journals_in_all as bigint,
    journalsMs: Number(row.journals_ms),
    checks: row.checks as number,
    checksInAll: row.checks_in_all as number,
    rows: row.rows_held as bigint,
    wrong: optional<string>(row.wrong),
    head: (row.head_hash as Buffer | null)?.toString("hex"),
  };
}
