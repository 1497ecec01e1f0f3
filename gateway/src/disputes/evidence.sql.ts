// All SQL of evidence before it is submitted: drafts, files and the pieces of files.
import type { Micros } from "../ground/clock.ts";
import { idOf, uuidOf } from "../ground/ids.ts";
import { type Book, bookOfRow, bookValues } from "../merchants/books.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import { STEP } from "../store/retention.ts";
import { type Table, bulkInsert, bulkUpdate, loadByKey, arraysOf, rowsOf } from "../store/table.ts";
import type { EvidenceText } from "./dispute.ts";
import {
  type DisputeRef,
  disputeKeyColumns,
  disputeKeyText,
  evidenceTextColumns,
  evidenceTextOfRow,
} from "./disputes.sql.ts";
import type { MediaType } from "./evidence-inspection.ts";

/** The texts that a merchant has saved so far. */
export interface EvidenceDraft extends EvidenceText {
  book: Book;
  uuid: string;
  savedAt: Micros;
}

/** An uploaded file: it arrives, is kept or was removed. */
export interface EvidenceFile {
  book: Book;
  /** Uuid of the dispute. */
  uuid: string;
  fileId: string;
  slot: number;
  state: "arriving" | "kept" | "removed";
  name: string;
  sizeBytes: number;
  mediaType?: MediaType | undefined;
  sha256?: Buffer | undefined;
  keptAt?: Micros | undefined;
}

/** The files of a dispute that arrive or are kept, ordered by slot. */
interface FileList {
  book: Book;
  uuid: string;
  files: readonly EvidenceFile[];
}

type FileRef = Pick<EvidenceFile, "book" | "uuid" | "fileId">;

const draftColumns = {
  ...evidenceTextColumns,
  saved_at: ["timestamptz", (draft: EvidenceDraft) => draft.savedAt],
} as const;

export const evidenceDrafts: Table<DisputeRef, EvidenceDraft> = {
  name: "evidence drafts",
  keyText: disputeKeyText,
  keyOf: (draft) => draft,
  load: loadByKey("lock evidence drafts", "evidence_drafts", disputeKeyColumns),
  parse: draftOfRow,
  insert: bulkInsert<EvidenceDraft>("evidence_drafts", { ...disputeKeyColumns, ...draftColumns }),
  update: bulkUpdate<EvidenceDraft>("evidence_drafts", disputeKeyColumns, draftColumns),
};

/** The files of a dispute, an empty list if it has none. Loaded under the dispute's lock; `evidenceFiles` writes single files. */
export const fileLists: Table<DisputeRef, FileList> = {
  name: "evidence file lists",
  keyText: disputeKeyText,
  keyOf: (list) => list,
  load: (keys) => ({
    name: "load evidence files",
    text: `select w.merchant_id, w.environment, w.dispute_id, l.files
from (
${rowsOf(disputeKeyColumns)}
) w
cross join lateral (
  select coalesce(json_agg(json_build_array(f.file_id, f.slot, f.state, f.name, f.size_bytes, f.media_type) order by f.slot), '[]') as files
  from evidence_files f
  where f.merchant_id = w.merchant_id and f.environment = w.environment and f.dispute_id = w.dispute_id and f.state <> 'removed'
) l`,
    values: arraysOf(disputeKeyColumns, keys),
  }),
  parse(row) {
    const book = bookOfRow(row);
    const uuid = idOf("dispute", row.dispute_id as string);
    type Listed = [fileId: string, number, EvidenceFile["state"], name: string, sizeBytes: number, MediaType | null];
    const files = (JSON.parse(row.files as string) as Listed[]).map(
      ([fileId, slot, state, name, sizeBytes, mediaType]): EvidenceFile => ({
        book,
        uuid,
        fileId: idOf("file", fileId),
        slot,
        state,
        name,
        sizeBytes,
        mediaType: mediaType ?? undefined,
      }),
    );
    return { book, uuid, files };
  },
};

const fileKeyColumns = {
  ...disputeKeyColumns,
  file_id: ["uuid", (file: FileRef) => uuidOf(file.fileId)],
} as const;

const stateColumns = {
  state: ["text", (file: EvidenceFile) => file.state],
  media_type: ["text", (file: EvidenceFile) => file.mediaType],
  sha256: ["bytea", (file: EvidenceFile) => file.sha256],
  kept_at: ["timestamptz", (file: EvidenceFile) => file.keptAt],
} as const;

/** Files by id. Loading locks them. */
export const evidenceFiles: Table<FileRef, EvidenceFile> = {
  name: "evidence files",
  keyText: (file) => `${disputeKeyText(file)}/${file.fileId}`,
  keyOf: (file) => file,
  load: loadByKey("lock evidence files", "evidence_files", fileKeyColumns),
  parse: fileOfRow,
  insert: bulkInsert<EvidenceFile>("evidence_files", {
    ...fileKeyColumns,
    ...stateColumns,
    slot: ["smallint", (file) => file.slot],
    name: ["text", (file) => file.name],
    size_bytes: ["integer", (file) => file.sizeBytes],
  }),
  update: bulkUpdate<EvidenceFile>("evidence_files", fileKeyColumns, stateColumns),
};

const ofDispute = "merchant_id = $1::uuid and environment = $2::environment and dispute_id = $3::uuid";
const disputeValues = ({ book, uuid }: DisputeRef): unknown[] => [...bookValues(book), uuidOf(uuid)];
const fileValues = (file: FileRef): unknown[] => [...disputeValues(file), uuidOf(file.fileId)];

/** The draft, if there is one, and the offset of the book's clock. */
export function selectDraft(dispute: DisputeRef): Statement {
  return {
    name: "select evidence draft",
    text: `select b.clock_offset_seconds, d.*
from books b
left join evidence_drafts d on d.merchant_id = b.merchant_id and d.environment = b.environment and d.dispute_id = $3::uuid
where b.merchant_id = $1::uuid and b.environment = $2::environment`,
    values: disputeValues(dispute),
  };
}

export function draftOfRow(row: Row): EvidenceDraft {
  return {
    book: bookOfRow(row),
    uuid: idOf("dispute", row.dispute_id as string),
    ...evidenceTextOfRow(row),
    savedAt: row.saved_at as Micros,
  };
}

/** The kept files of a dispute, in the order of their upload. */
export function selectKeptFiles(dispute: DisputeRef): Statement {
  return {
    name: "select kept evidence files",
    text: `select *
from evidence_files
where ${ofDispute} and state = 'kept'
order by kept_at, slot`,
    values: disputeValues(dispute),
  };
}

/** One file of a dispute; no row unless it is kept. */
export function selectKeptFile(file: FileRef): Statement {
  return {
    name: "select kept evidence file",
    text: `select *
from evidence_files
where ${ofDispute} and file_id = $4::uuid and state = 'kept'`,
    values: fileValues(file),
  };
}

export function fileOfRow(row: Row): EvidenceFile {
  return {
    book: bookOfRow(row),
    uuid: idOf("dispute", row.dispute_id as string),
    fileId: idOf("file", row.file_id as string),
    slot: row.slot as number,
    state: row.state as EvidenceFile["state"],
    name: row.name as string,
    sizeBytes: row.size_bytes as number,
    mediaType: optional<MediaType>(row.media_type),
    sha256: optional<Buffer>(row.sha256),
    keptAt: optional<Micros>(row.kept_at),
  };
}

export function insertPiece(file: FileRef, piece: number, bytes: Buffer): Statement {
  return {
    name: "insert evidence piece",
    text: `insert into evidence_pieces (merchant_id, environment, dispute_id, file_id, piece, bytes)
values ($1::uuid, $2::environment, $3::uuid, $4::uuid, $5::smallint, $6::bytea)`,
    values: [...fileValues(file), piece, bytes],
  };
}

export function selectPiece(file: FileRef, piece: number): Statement {
  return {
    name: "select evidence piece",
    text: `select bytes
from evidence_pieces
where ${ofDispute} and file_id = $4::uuid and piece = $5::smallint`,
    values: [...fileValues(file), piece],
  };
}

/** Deletes the bytes of a removed file. */
export function deletePieces(file: FileRef): Statement {
  return {
    name: "delete evidence pieces",
    text: `delete from evidence_pieces
where ${ofDispute} and file_id = $4::uuid`,
    values: fileValues(file),
  };
}

/** Whether a further file makes it more than `most` bytes within a day. Removed files count until they are forgotten. False in production. */
export function selectIsSandboxFull(book: Book, sizeBytes: number, most: number): Statement {
  return {
    text: `select coalesce(sum(size_bytes), 0) + $3::integer > $4::integer as full
from evidence_files
where $2::environment = 'sandbox' and merchant_id = $1::uuid and environment = 'sandbox' and arriving_since > now() - interval '1 day'`,
    values: [...bookValues(book), sizeBytes, most],
  };
}

// An upload takes five minutes at most, and one that nobody finishes takes a slot from others until it is forgotten. The database's clock decides
// when it is over, since the clock of a process may be wrong.
const over = "f.state <> 'kept' and f.arriving_since < now() - interval '10 minutes'";

/** Deletes the pieces of files that were removed or never completed, up to `STEP` pieces. */
export function forgottenPieces(): Statement {
  return {
    name: "forget evidence pieces",
    text: `delete from evidence_pieces
where (merchant_id, environment, dispute_id, file_id, piece) in (
  select p.merchant_id, p.environment, p.dispute_id, p.file_id, p.piece
  from evidence_files f
  join evidence_pieces p using (merchant_id, environment, dispute_id, file_id)
  where ${over}
  limit ${STEP}
)
returning 1`,
  };
}

/** Deletes the rows of such files once their pieces are gone, up to `STEP` rows. */
export function forgottenFiles(): Statement {
  return {
    name: "forget evidence files",
    text: `delete from evidence_files
where (merchant_id, environment, dispute_id, file_id) in (
  select f.merchant_id, f.environment, f.dispute_id, f.file_id
  from evidence_files f
  where ${over} and not exists (
    select
    from evidence_pieces p
    where p.merchant_id = f.merchant_id and p.environment = f.environment and p.dispute_id = f.dispute_id and p.file_id = f.file_id
  )
  limit ${STEP}
)
returning 1`,
  };
}
