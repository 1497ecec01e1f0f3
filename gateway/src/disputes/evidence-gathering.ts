// Evidence before its submission: the draft, the files, and the submission itself. Pure commands for the lanes.
import { type BookOwner, type CommandContext, bookCommand } from "../commands/command-context.ts";
import { Fault, validationFault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import type { Book } from "../merchants/books.ts";
import type { Command } from "../store/command.ts";
import { type Need, need } from "../store/working-set.ts";
import type { DisputeOfOrder, EvidenceText } from "./dispute.ts";
import { type DisputeKey, disputeNeeds, findAwaiting, findDispute, submit } from "./disputes.ts";
import type { MediaType } from "./evidence-inspection.ts";
import { type EvidenceDraft, type EvidenceFile, evidenceDrafts, evidenceFiles, fileLists } from "./evidence.sql.ts";

/** The limits of a dispute's files; checks of the database hold the same ones. */
export const FILES_MAX = 10;
export const FILE_BYTES_MAX = 10 * 1024 * 1024;
export const FILES_BYTES_MAX = 50 * 1024 * 1024;

function gatheringNeeds(book: Book, key: DisputeKey): Need[] {
  const { uuid } = key;
  const known = key.paymentReference !== undefined && isId("dispute", uuid);
  return [
    ...disputeNeeds(book, key),
    ...(known ? [need(evidenceDrafts, { book, uuid }), need(fileLists, { book, uuid })] : []),
  ];
}

/** Saves the draft. Throws OBJECT_NOT_FOUND, ENVIRONMENT_MISMATCH, DISPUTE_RESOLVED. */
export function saveDraft(owner: BookOwner, key: DisputeKey, text: EvidenceText): Command<EvidenceDraft> {
  const { book } = owner;
  return bookCommand(owner, {
    name: "save evidence draft",
    needs: gatheringNeeds(book, key),
    execute(context) {
      const { set, now } = context;
      const { uuid } = findAwaiting(context, key);
      const draft: EvidenceDraft = { ...text, book, uuid, savedAt: now };
      set.upsert(evidenceDrafts, draft);
      return draft;
    },
  });
}

/**
 * Reserves a slot for a file that is about to arrive. Throws OBJECT_NOT_FOUND, ENVIRONMENT_MISMATCH, DISPUTE_RESOLVED; PAYLOAD_TOO_LARGE for a
 * file beyond 10 MiB or files beyond 50 MiB together; VALIDATION_ERROR for an empty file, and for an eleventh one.
 */
export function beginFile(
  owner: BookOwner,
  key: DisputeKey,
  announced: { name: string; sizeBytes: number },
): Command<EvidenceFile> {
  const { book } = owner;
  return bookCommand(owner, {
    name: "begin evidence file",
    needs: gatheringNeeds(book, key),
    execute(context) {
      const { uuid } = findAwaiting(context, key);
      const files = filesOf(context, uuid);
      const { sizeBytes } = announced;
      if (sizeBytes === 0) throw wrongFile("The file is empty.");
      if (sizeBytes > FILE_BYTES_MAX)
        throw new Fault("PAYLOAD_TOO_LARGE", {
          message: `The file has ${bytesAsText(sizeBytes)}. At most ${bytesAsText(FILE_BYTES_MAX)} (10 MiB) are taken.`,
        });
      if (files.length >= FILES_MAX)
        throw wrongFile(`There are ${FILES_MAX} files already. Remove one first, or put several into one PDF.`);
      const before = files.reduce((sum, file) => sum + file.sizeBytes, 0);
      if (before + sizeBytes > FILES_BYTES_MAX)
        throw new Fault("PAYLOAD_TOO_LARGE", {
          message: `With this file all would have ${bytesAsText(before + sizeBytes)}. At most ${bytesAsText(FILES_BYTES_MAX)} (50 MiB) are taken together.`,
        });
      const taken = new Set(files.map(({ slot }) => slot));
      const slot = Array.from({ length: FILES_MAX }, (_, index) => index + 1).find((one) => !taken.has(one)) ?? 0;
      const file: EvidenceFile = {
        book,
        uuid,
        fileId: context.newId("file"),
        slot,
        state: "arriving",
        name: announced.name,
        sizeBytes,
      };
      context.set.insert(evidenceFiles, file);
      setFiles(context, uuid, [...files, file]);
      return file;
    },
  });
}

/** Keeps a file that has passed inspection. Throws OBJECT_NOT_FOUND where it was removed, ENVIRONMENT_MISMATCH; DISPUTE_RESOLVED when late. */
export function keepFile(
  owner: BookOwner,
  key: DisputeKey,
  fileId: string,
  judged: { mediaType: MediaType; sha256: Buffer },
): Command<EvidenceFile> {
  return changeFile(owner, key, fileId, "keep evidence file", (context) => {
    const { uuid } = findAwaiting(context, key);
    const before = fileOf(context, uuid, fileId);
    if (before?.state !== "arriving") throw noFile();
    return { ...before, ...judged, state: "kept", keptAt: context.now };
  });
}

/** Removes a file that arrives, or a kept one while evidence is awaited. Throws OBJECT_NOT_FOUND, ENVIRONMENT_MISMATCH, DISPUTE_RESOLVED. */
export function removeFile(owner: BookOwner, key: DisputeKey, fileId: string): Command<EvidenceFile> {
  return changeFile(owner, key, fileId, "remove evidence file", (context) => {
    const { uuid } = findDispute(context, key);
    const before = fileOf(context, uuid, fileId);
    if (before?.state !== "arriving") findAwaiting(context, key);
    if (!before || before.state === "removed") throw noFile();
    return { ...before, state: "removed", mediaType: undefined, sha256: undefined, keptAt: undefined };
  });
}

function changeFile(
  owner: BookOwner,
  key: DisputeKey,
  fileId: string,
  name: string,
  change: (context: CommandContext) => EvidenceFile,
): Command<EvidenceFile> {
  const { book } = owner;
  const { uuid } = key;
  const known = isId("dispute", uuid) && isId("file", fileId);
  return bookCommand(owner, {
    name,
    needs: [...gatheringNeeds(book, key), ...(known ? [need(evidenceFiles, { book, uuid, fileId })] : [])],
    execute(context) {
      const file = change(context);
      const others = filesOf(context, file.uuid).filter((one) => one.fileId !== fileId);
      context.set.update(evidenceFiles, file);
      setFiles(context, file.uuid, file.state === "removed" ? others : [...others, file]);
      return file;
    },
  });
}

/** Submits draft and kept files, once. Throws OBJECT_NOT_FOUND, ENVIRONMENT_MISMATCH, DISPUTE_RESOLVED; VALIDATION_ERROR for no statement. */
export function submitDraft(owner: BookOwner, key: DisputeKey): Command<DisputeOfOrder> {
  return bookCommand(owner, {
    name: "submit evidence draft",
    needs: gatheringNeeds(owner.book, key),
    execute(context) {
      const dispute = findAwaiting(context, key);
      const draft = context.set.get(evidenceDrafts, dispute);
      if (!draft || draft.statement.trim() === "")
        throw validationFault("statement", draft?.statement, "Write a statement first: what happened, in your words.");
      const { statement, carrier, trackingNumber, deliveredOn } = draft;
      const kept = filesOf(context, dispute.uuid).filter(({ state }) => state === "kept");
      const files = kept.map(({ fileId, name, mediaType = "", sizeBytes }) => ({
        file_id: fileId,
        name,
        media_type: mediaType,
        size_bytes: sizeBytes,
      }));
      return submit(context, dispute, { statement, carrier, trackingNumber, deliveredOn, files });
    },
  });
}

const wrongFile = (message: string): Fault => validationFault("file", undefined, message);
const noFile = (): Fault => new Fault("OBJECT_NOT_FOUND", { message: "The evidence has no such file." });

function fileOf({ set, book }: CommandContext, uuid: string, fileId: string): EvidenceFile | undefined {
  return set.get(evidenceFiles, { book, uuid, fileId });
}

function filesOf({ set, book }: CommandContext, uuid: string): readonly EvidenceFile[] {
  return set.get(fileLists, { book, uuid })?.files ?? [];
}

function setFiles({ set, book }: CommandContext, uuid: string, files: readonly EvidenceFile[]): void {
  set.upsert(fileLists, { book, uuid, files });
}

function bytesAsText(bytes: number): string {
  return `${String(bytes).replaceAll(/\B(?=(\d{3})+$)/g, ",")} bytes`;
}
