// Evidence: what a merchant says to a dispute, once, and how whoever decides gets to see it.
import { z } from "zod";
import { wireTime } from "../ground/clock.ts";
import { isId } from "../ground/ids.ts";
import { exampleIds, exampleTimes } from "../http/examples.ts";
import { identity, text, timestamp } from "../http/shapes.ts";
import type { Book } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import type { Evidence } from "./dispute.ts";
import { evidenceOfRow, selectEvidence } from "./disputes.sql.ts";

/** What is handed in. */
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

/** What is shown of it; files are fetched one by one. */
const keptFileSchema = z
  .strictObject({
    number: z
      .int()
      .min(1)
      .meta({ description: "Names it in the path of a download.", examples: [1] }),
    name: z.string().meta({ examples: ["receipt.pdf"] }),
    media_type: z
      .string()
      .meta({ description: "What the merchant says it is; nobody has looked.", examples: ["application/pdf"] }),
    size_bytes: z
      .int()
      .min(0)
      .meta({ examples: [9] }),
  })
  .meta({ id: "KeptFile" });

export const keptEvidenceSchema = z
  .strictObject({
    uuid: identity("dispute").meta({ description: "The dispute's." }),
    statement: z.string(),
    submitted_at: timestamp,
    files: z.array(keptFileSchema),
  })
  .meta({
    id: "Evidence",
    examples: [
      {
        uuid: exampleIds.dispute,
        statement: "The parcel was signed for on 20 November; the receipt is attached.",
        submitted_at: exampleTimes.evidenceDue,
        files: [{ number: 1, name: "receipt.pdf", media_type: "application/pdf", size_bytes: 9 }],
      },
    ],
  });

/** The evidence of a dispute of this book, or undefined: there is no such dispute, or nothing was handed in. */
export async function readEvidence(database: Database, book: Book, uuid: string): Promise<Evidence | undefined> {
  if (!isId("dispute", uuid)) return undefined;
  const [row] = await database.query(selectEvidence(book, uuid));
  return row && evidenceOfRow(row);
}

export function evidenceView({ uuid, statement, submittedAt, files }: Evidence): z.infer<typeof keptEvidenceSchema> {
  return {
    uuid,
    statement,
    submitted_at: wireTime(submittedAt),
    files: files.map(({ name, media_type, content_base64 }, index) => ({
      number: index + 1,
      name,
      media_type,
      size_bytes: Buffer.byteLength(content_base64, "base64"),
    })),
  };
}

/** A file by the number that `evidenceView` gives it, as sent in a path. */
export function fileOf(evidence: Evidence | undefined, number: string): { name: string; bytes: Buffer } | undefined {
  const file = /^[1-9]\d?$/.test(number) ? evidence?.files[Number(number) - 1] : undefined;
  return file && { name: file.name, bytes: Buffer.from(file.content_base64, "base64") };
}
