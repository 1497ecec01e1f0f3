// Evidence: a merchant's answer to a dispute, submitted once, and how it is shown to the operator who decides.
import { z } from "zod";
import { wireTime } from "../ground/clock.ts";
import { isId } from "../ground/ids.ts";
import type { Attachment } from "../ground/reply.ts";
import { wholeFrom } from "../ground/whole.ts";
import { exampleTimes } from "../http/examples.ts";
import { identity, text, timestamp, withExample } from "../http/shapes.ts";
import type { Book } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import type { Evidence, KeptFile, SubmittedFile } from "./dispute.ts";
import { evidenceOfRow, selectEvidence } from "./disputes.sql.ts";
import { type MediaType, endingsOf } from "./evidence-inspection.ts";

/** The submitted shape; operators submit evidence in it. */
const evidenceFileSchema = z
  .strictObject({
    name: text(1, 200).meta({ examples: ["receipt.pdf"] }),
    media_type: z
      .string()
      .regex(/^[\w.+-]{1,60}\/[\w.+-]{1,60}$/, "is not a media type")
      .meta({ examples: ["application/pdf"] }),
    content_base64: z
      .base64()
      .max(200_000)
      .meta({ description: "The bytes in base64.", format: undefined, examples: ["JVBERi0xLjcK"] }),
  })
  .meta({ id: "EvidenceFile" });

export const evidenceSchema = z
  .strictObject({
    statement: text(1, 20_000).meta({ description: "What the merchant says to it." }),
    files: z.array(evidenceFileSchema).max(10),
  })
  .meta({
    id: "SubmitEvidence",
    examples: [
      {
        statement: "The parcel was signed for on 20 November; the receipt is attached.",
        files: [{ name: "receipt.pdf", media_type: "application/pdf", content_base64: "JVBERi0xLjcK" }],
      },
    ],
  });

/** The shape that is shown; files are downloaded one by one. */
const keptFileSchema = z
  .strictObject({
    number: wholeFrom(1).meta({ description: "Names it in the path of a download.", examples: [1] }),
    name: z.string().meta({ examples: ["receipt.pdf"] }),
    media_type: z.string().meta({
      description:
        "What the operator was told that it is. Of a file that the merchant brought: what it was found to be.",
      examples: ["application/pdf"],
    }),
    size_bytes: wholeFrom(0).meta({ examples: [9] }),
  })
  .meta({ id: "KeptFile" });

export const keptEvidenceSchema = withExample(
  z.strictObject({
    uuid: identity("dispute").meta({ description: "The dispute's." }),
    statement: z.string(),
    carrier: z.string().nullable().meta({ description: "Who delivered, where the merchant said so." }),
    tracking_number: z.string().nullable(),
    delivered_on: z.string().nullable().meta({ description: "A day such as 2026-11-20." }),
    submitted_at: timestamp,
    files: z.array(keptFileSchema),
  }),
  { id: "Evidence" },
  {
    statement: "The parcel was signed for on 20 November; the receipt is attached.",
    carrier: "JNE",
    tracking_number: "JB0012345678",
    delivered_on: "2026-11-20",
    submitted_at: exampleTimes.evidenceDue,
    files: [{ number: 1, name: "receipt.pdf", media_type: "application/pdf", size_bytes: 9 }],
  },
);

/** The evidence of a dispute of this book; undefined when there is no such dispute, or no evidence was submitted. */
export async function readEvidence(database: Database, book: Book, uuid: string): Promise<Evidence | undefined> {
  if (!isId("dispute", uuid)) return undefined;
  return database.first(selectEvidence(book, uuid), evidenceOfRow);
}

/** The evidence as it is shown to an operator. */
export function evidenceView(evidence: Evidence): z.infer<typeof keptEvidenceSchema> {
  const { uuid, statement, carrier, trackingNumber, deliveredOn, submittedAt, files } = evidence;
  return {
    uuid,
    statement,
    carrier: carrier ?? null,
    tracking_number: trackingNumber ?? null,
    delivered_on: deliveredOn ?? null,
    submitted_at: wireTime(submittedAt),
    files: files.map(fileView),
  };
}

export function fileView(file: SubmittedFile, index: number): z.infer<typeof keptFileSchema> {
  const { name, media_type } = file;
  const size_bytes = "file_id" in file ? file.size_bytes : Buffer.byteLength(file.content_base64, "base64");
  return { number: index + 1, name, media_type, size_bytes };
}

/** A file of the evidence by its number in `evidenceView`, as the path of a request names it; undefined when there is none. */
export function fileByNumber(evidence: Evidence | undefined, number: string): SubmittedFile | undefined {
  return /^[1-9]\d?$/.test(number) ? evidence?.files[Number(number) - 1] : undefined;
}

export const downloadedFileSchema = z
  .string()
  .meta({ id: "DownloadedFile", description: "The bytes.", format: "binary", examples: ["%PDF-1.7"] });

/** A file as a download. `read` gives the bytes of a file that is kept in pieces. */
export function attachmentOf(file: SubmittedFile, read: (file: KeptFile) => AsyncIterable<Buffer>): Attachment {
  if (!("file_id" in file)) return { name: file.name, bytes: Buffer.from(file.content_base64, "base64") };
  return { name: savedName(file), bytes: read(file), sizeBytes: file.size_bytes };
}

/** The file's name with an ending that fits its real type: a PDF named `run.exe` becomes `run.exe.pdf`. */
function savedName({ name, media_type }: KeptFile): string {
  const endings: readonly string[] = endingsOf[media_type as MediaType];
  return endings.some((ending) => name.toLowerCase().endsWith(ending)) ? name : `${name}${endings[0]}`;
}
