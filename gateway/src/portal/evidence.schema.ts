// The shapes of dispute evidence.
import { z } from "zod";
import { mediaTypes } from "../disputes/evidence-inspection.ts";
import { exampleIds, exampleTimes } from "../http/examples.ts";
import { identity, inPath, positive, text, timestamp, withExample } from "../http/shapes.ts";

const shortText = text(1, 120);
const day = z.iso.date("is not a day such as 2026-11-20").meta({ examples: ["2026-11-20"] });

const exampleText = {
  statement: "The parcel was signed for on 20 November; the receipt is attached.",
  carrier: "JNE",
  tracking_number: "JB0012345678",
  delivered_on: "2026-11-20",
};
export const evidenceTextSchema = z
  .strictObject({
    statement: text(0, 20_000).meta({ description: "What happened, in the merchant's words." }),
    carrier: shortText.optional().meta({ description: "Who delivered.", examples: ["JNE"] }),
    tracking_number: shortText.optional().meta({ examples: ["JB0012345678"] }),
    delivered_on: day.optional().meta({ description: "The day on which it was delivered." }),
  })
  .meta({ id: "EvidenceText", examples: [exampleText] });

export const evidenceFileSchema = withExample(
  z.strictObject({
    file_id: identity("file").nullable().meta({ description: "Null for a file that the operator submitted." }),
    number: positive(1, "Its place among the files."),
    name: z.string().meta({ description: "As its maker calls it: any text.", examples: ["resi 1042.pdf"] }),
    media_type: z
      .string()
      .meta({ description: `What it was found to be: ${mediaTypes.join(", ")}.`, examples: ["application/pdf"] }),
    size_bytes: positive(48_213),
    kept_at: timestamp.nullable().meta({ description: "Null where it is not known." }),
  }),
  { id: "EvidenceFileOfMerchant" },
  { file_id: exampleIds.file, kept_at: exampleTimes.disputed },
);

export const gatheredEvidenceSchema = withExample(
  z.strictObject({
    uuid: identity("dispute"),
    can_change: z.boolean().meta({ description: "False once it is submitted, was due, or is decided." }),
    now: timestamp.meta({ description: "The time in the book, by which the evidence is due." }),
    evidence_due_at: timestamp,
    asked: z
      .strictObject({
        claim: z.string(),
        helpful: z.array(z.string()).meta({ description: "What convinces whoever decides, the best first." }),
        asks_delivery: z.boolean(),
      })
      .meta({ id: "AskedEvidence" }),
    statement: z.string().meta({ description: "Empty while nothing is written." }),
    carrier: z.string().nullable(),
    tracking_number: z.string().nullable(),
    delivered_on: z.string().nullable(),
    saved_at: timestamp.nullable().meta({ description: "When the draft was last kept; null when there is none." }),
    submitted_at: timestamp.nullable().meta({ description: "When it was submitted; null before." }),
    files: z.array(evidenceFileSchema),
    limits: z
      .strictObject({ files: z.int(), file_bytes: z.int(), files_bytes: z.int(), media_types: z.array(z.string()) })
      .meta({ id: "EvidenceLimits" }),
  }),
  { id: "GatheredEvidence" },
  {
    can_change: true,
    now: exampleTimes.disputed,
    evidence_due_at: exampleTimes.evidenceDue,
    asked: {
      claim: "The payer says that what they paid for never arrived.",
      helpful: ["Proof of delivery: a signature, or a photo at the door"],
      asks_delivery: true,
    },
    ...exampleText,
    saved_at: exampleTimes.disputed,
    files: [],
    limits: { files: 10, file_bytes: 10_485_760, files_bytes: 52_428_800, media_types: [...mediaTypes] },
  },
);

export const evidenceFileParams = {
  file_id: inPath("file", "EvidenceFileId", "`file_id` of the file, or its `number` where it has none."),
};

export type GatheredEvidence = z.infer<typeof gatheredEvidenceSchema>;
