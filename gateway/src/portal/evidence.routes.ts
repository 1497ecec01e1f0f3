// Portal endpoints for dispute evidence: a merchant drafts a text, adds files, and submits the evidence once.
import type { z } from "zod";
import { type Dispute, type EvidenceText, type KeptFile, awaitsEvidence, disputeView } from "../disputes/dispute.ts";
import { findDispute } from "../disputes/disputes.routes.ts";
import { disputeParams, disputeSchema } from "../disputes/disputes.schema.ts";
import type { DisputeKey } from "../disputes/disputes.ts";
import { attachmentOf, downloadedFileSchema, fileByNumber, fileView, readEvidence } from "../disputes/evidence.ts";
import { type EvidenceFile, draftOfRow, fileOfRow, selectDraft, selectKeptFiles } from "../disputes/evidence.sql.ts";
import { guidanceFor } from "../disputes/evidence-guidance.ts";
import { type EvidenceFiles, readPieces } from "../disputes/evidence-files.ts";
import { FILES_BYTES_MAX, FILES_MAX, FILE_BYTES_MAX, saveDraft, submitDraft } from "../disputes/evidence-gathering.ts";
import { mediaTypes } from "../disputes/evidence-inspection.ts";
import { type Micros, SECOND, wireTime, wireTimeOrNull } from "../ground/clock.ts";
import { Downloads } from "../ground/downloads.ts";
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { reply } from "../ground/reply.ts";
import { nothing } from "../http/shapes.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import { type PortalEndpoint, memberEndpoint } from "./endpoint.ts";
import {
  type GatheredEvidence,
  evidenceFileParams,
  evidenceFileSchema,
  evidenceTextSchema,
  gatheredEvidenceSchema,
} from "./evidence.schema.ts";

interface EvidenceEndpointParts {
  database: Database;
  lanes: Lanes;
  files: EvidenceFiles;
}

const path = "/portal/v1/disputes/{uuid}/evidence";
const read = { tag: "Evidence", action: "disputes:read" } as const;
const errors = ["OBJECT_NOT_FOUND", "ENVIRONMENT_MISMATCH", "DISPUTE_RESOLVED"] as const;
const write = { tag: "Evidence", action: "disputes:write", params: disputeParams } as const;
const fileParams = { ...disputeParams, ...evidenceFileParams };

export function evidenceEndpoints(parts: EvidenceEndpointParts): PortalEndpoint[] {
  return [...textEndpoints(parts), ...fileEndpoints(parts)];
}

function textEndpoints(parts: EvidenceEndpointParts): PortalEndpoint[] {
  const { database, lanes } = parts;
  return [
    memberEndpoint({
      method: "GET",
      path,
      operationId: "getEvidence",
      summary: "Read what is asked, what is gathered so far, and what was submitted",
      ...read,
      params: disputeParams,
      success: { description: "The draft and its files, or what was submitted.", schema: gatheredEvidenceSchema },
      errors: ["ENVIRONMENT_MISMATCH"],
      handle: async (call) => reply(200, await gathered(database, await findDispute(database, call), call.now)),
    }),
    memberEndpoint({
      method: "PUT",
      path,
      operationId: "saveEvidence",
      summary: "Keep what is written so far",
      description: "It takes the place of what was kept before. Nobody else reads it until it is submitted.",
      ...write,
      body: evidenceTextSchema,
      success: { description: "As it is kept.", schema: gatheredEvidenceSchema },
      errors,
      async handle(call) {
        const dispute = await findDispute(database, call);
        await lanes.move(call.merchant.merchantId, saveDraft(call, keyOf(dispute), textOf(call.body)));
        return reply(200, await gathered(database, dispute, call.now));
      },
    }),
    memberEndpoint({
      method: "POST",
      path: `${path}/submit`,
      operationId: "submitEvidence",
      summary: "Submit the evidence, once",
      description: "The draft and the files that are kept go to whoever decides. Neither can be changed afterwards.",
      ...write,
      success: { description: "The dispute, under review.", schema: disputeSchema },
      errors: [...errors, "VALIDATION_ERROR"],
      async handle(call) {
        const dispute = await findDispute(database, call);
        return reply(200, disputeView(await lanes.move(call.merchant.merchantId, submitDraft(call, keyOf(dispute)))));
      },
    }),
  ];
}

function fileEndpoints({ database, files }: EvidenceEndpointParts): PortalEndpoint[] {
  // Each piece of a file takes a connection of the database, and the process some milliseconds.
  const downloads = new Downloads({ inAll: 16, each: 4 });
  return [
    memberEndpoint({
      method: "POST",
      path: `${path}/files`,
      operationId: "addEvidenceFile",
      summary: "Add a file",
      description:
        "The body is the file. It is kept once all of it is here and was found to be a PDF, a PNG or a JPEG, whatever its name says.",
      ...write,
      upload: { description: "The bytes of a PDF, a PNG or a JPEG: 10 MiB at most, and 50 MiB for all of a dispute." },
      success: { status: 201, description: "The file is kept.", schema: evidenceFileSchema },
      errors: [...errors, "PAYLOAD_TOO_LARGE", "VALIDATION_ERROR", "RATE_LIMITED"],
      async handle(call) {
        const dispute = await findDispute(database, call);
        const kept = await files.receive(call, keyOf(dispute), call.file());
        const all = await database.query(selectKeptFiles(dispute));
        const index = all.map(fileOfRow).findIndex(({ fileId }) => fileId === kept.fileId);
        return reply(201, keptView(kept, index < 0 ? all.length : index));
      },
    }),
    memberEndpoint({
      method: "GET",
      path: `${path}/files/{file_id}`,
      operationId: "downloadEvidenceFile",
      summary: "Download a file, to be saved",
      ...read,
      params: fileParams,
      success: {
        description: "The file as it came.",
        schema: downloadedFileSchema,
        mediaType: "application/octet-stream",
      },
      errors: ["OBJECT_NOT_FOUND", "ENVIRONMENT_MISMATCH"],
      async handle(call) {
        const { book, uuid } = await findDispute(database, call);
        const { file_id: named = "" } = call.params;
        const kept = isId("file", named) ? await files.find(book, uuid, named) : undefined;
        const file = kept ? referenceTo(kept) : fileByNumber(await readEvidence(database, book, uuid), named);
        if (!file) throw new Fault("OBJECT_NOT_FOUND", { message: "The evidence has no such file." });
        const attachment = attachmentOf(file, (one) => readPieces(database, { book, uuid }, one));
        return { status: 200, body: "", file: { ...attachment, sending: downloads.take(book.merchantId) } };
      },
    }),
    memberEndpoint({
      method: "DELETE",
      path: `${path}/files/{file_id}`,
      operationId: "removeEvidenceFile",
      summary: "Take a file back",
      ...write,
      params: fileParams,
      success: { description: "It is gone.", schema: nothing },
      errors,
      async handle(call) {
        const dispute = await findDispute(database, call);
        await files.remove(call, keyOf(dispute), call.params.file_id ?? "");
        return reply(200, {});
      },
    }),
  ];
}

const keyOf = ({ uuid, paymentReference }: Dispute): DisputeKey => ({ uuid, paymentReference });

function textOf(body: z.infer<typeof evidenceTextSchema>): EvidenceText {
  const { statement, carrier, tracking_number: trackingNumber, delivered_on: deliveredOn } = body;
  return { statement, carrier, trackingNumber, deliveredOn };
}

const referenceTo = ({ fileId, name, mediaType, sizeBytes }: EvidenceFile): KeptFile => ({
  file_id: fileId,
  name,
  media_type: mediaType ?? "",
  size_bytes: sizeBytes,
});

function keptView(file: EvidenceFile, index: number): z.infer<typeof evidenceFileSchema> {
  const { fileId, keptAt } = file;
  return {
    file_id: fileId,
    ...fileView(referenceTo(file), index),
    kept_at: wireTimeOrNull(keptAt),
  };
}

async function gathered(database: Database, dispute: Dispute, realNow: Micros): Promise<GatheredEvidence> {
  const { book, uuid } = dispute;
  const [submitted, [row], fileRows] = await Promise.all([
    readEvidence(database, book, uuid),
    database.query(selectDraft(dispute)),
    database.query(selectKeptFiles(dispute)),
  ]);
  const now = realNow + Number(row?.clock_offset_seconds ?? 0) * SECOND;
  const draft = row?.saved_at ? draftOfRow(row) : undefined;
  const text: Partial<EvidenceText> = submitted ?? draft ?? {};
  const asked = guidanceFor[dispute.reason];
  const kept = fileRows.map(fileOfRow);
  return {
    uuid,
    can_change: awaitsEvidence(dispute, now),
    now: wireTime(now),
    evidence_due_at: wireTime(dispute.evidenceDueAt),
    asked: { claim: asked.claim, helpful: [...asked.helpful], asks_delivery: asked.asksDelivery },
    statement: text.statement ?? "",
    carrier: text.carrier ?? null,
    tracking_number: text.trackingNumber ?? null,
    delivered_on: text.deliveredOn ?? null,
    saved_at: wireTimeOrNull(draft?.savedAt),
    submitted_at: wireTimeOrNull(submitted?.submittedAt),
    files: submitted
      ? submitted.files.map((file, index) => {
          const mine = "file_id" in file ? kept.find(({ fileId }) => fileId === file.file_id) : undefined;
          return mine ? keptView(mine, index) : { file_id: null, ...fileView(file, index), kept_at: null };
        })
      : kept.map(keptView),
    limits: {
      files: FILES_MAX,
      file_bytes: FILE_BYTES_MAX,
      files_bytes: FILES_BYTES_MAX,
      media_types: [...mediaTypes],
    },
  };
}
