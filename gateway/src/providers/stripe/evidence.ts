// Evidence for a dispute at Stripe: what they take of it, which field each part goes to, and the requests that bring it. Pure.
import type { EvidenceRequest } from "../../acquirers/acquirer.ts";
import { sha256 } from "../../ground/crypto.ts";
import { type Field, form } from "./requests.ts";

const TEXT_MAX = 20_000;
const FILE_BYTES_MAX = 5_000_000;
const fileTypes = new Set(["application/pdf", "image/jpeg", "image/png"]);

/** The fields that take a file, one each, in the order in which files that name no field by their names are laid down. */
const fileFields = [
  "uncategorized_file",
  "customer_communication",
  "shipping_documentation",
  "receipt",
  "service_documentation",
  "customer_signature",
  "refund_policy",
  "cancellation_policy",
] as const;
export type FileField = (typeof fileFields)[number];
/** Words in a file's name, in English and Indonesian, that say which field it belongs to. */
const fieldByName: readonly (readonly [RegExp, FileField])[] = [
  [/receipt|invoice|faktur|struk|kuitansi/i, "receipt"],
  [/ship|deliver|resi|parcel|paket|kirim|courier|kurir/i, "shipping_documentation"],
  [/chat|mail|message|whatsapp|pesan|percakapan/i, "customer_communication"],
  [/contract|kontrak|work.?order|service/i, "service_documentation"],
];
export const FILES_MAX = fileFields.length;

/** What they would not take of it, said before anything is sent; undefined when all is well. */
export function objectionToEvidence(request: EvidenceRequest): string | undefined {
  const { files } = request;
  if (evidenceText(request).length > TEXT_MAX) return `the statement has more than ${TEXT_MAX} characters`;
  if (files.length > FILES_MAX) return `there are more than ${FILES_MAX} files`;
  const index = files.findIndex(({ type, bytes }) => !fileTypes.has(type) || bytes.length > FILE_BYTES_MAX);
  return index === -1 ? undefined : `file ${index + 1} is no PDF, JPEG or PNG of at most 5 MB`;
}

/** Which field each file goes to: by its name where that says so, the rest in order. Never more files than fields. */
export function fieldsOf(files: readonly { name: string }[]): FileField[] {
  const taken = new Set<FileField>();
  const named = files.map(({ name }) => {
    const field = fieldByName.find(([words, field]) => words.test(name) && !taken.has(field))?.[1];
    if (field !== undefined) taken.add(field);
    return field;
  });
  const free = fileFields.filter((field) => !taken.has(field));
  return named.map((field) => field ?? free.shift() ?? "uncategorized_file");
}

/** The text of the evidence: Stripe has no field for the day of a delivery. */
export function evidenceText({ statement, deliveredOn }: Pick<EvidenceRequest, "statement" | "deliveredOn">): string {
  return deliveredOn === undefined ? statement : `${statement}\n\nDelivered on ${deliveredOn}.`;
}

/** `POST /v1/disputes/:id`: all of the evidence, submitted for good. `fileIds` are those of the uploaded files, in order. */
export function evidenceOrder(request: EvidenceRequest, fileIds: readonly string[]): string {
  const fields = fieldsOf(request.files);
  const optional: Field[] = [
    ...(request.carrier === undefined ? [] : [["evidence[shipping_carrier]", request.carrier] as const]),
    ...(request.trackingNumber === undefined
      ? []
      : [["evidence[shipping_tracking_number]", request.trackingNumber] as const]),
  ];
  return form([
    ["evidence[uncategorized_text]", evidenceText(request)],
    ...optional,
    ...fileIds.map((id, index) => [`evidence[${fields[index]}]`, id] as const),
    ["metadata[operation_key]", request.operationKey],
    ["submit", "true"],
  ]);
}

/** `POST /v1/files` at their host for files. */
export function fileUpload({ name, type, bytes }: EvidenceRequest["files"][number]): {
  contentType: string;
  body: Buffer;
} {
  // From the bytes themselves, so that a repetition is the same request, and no file holds the hash of itself.
  const boundary = `gerbang-${sha256(bytes).toString("hex")}`;
  const filename = name.replaceAll(/[^\x20-\x7e]|["\\]/g, "_");
  const part = (head: string): string => `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n`;
  const body = Buffer.concat([
    Buffer.from(`${part('name="purpose"')}\r\ndispute_evidence\r\n`),
    Buffer.from(`${part(`name="file"; filename="${filename}"`)}Content-Type: ${type}\r\n\r\n`),
    bytes,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}
