// Evidence for a dispute at Stripe: what Stripe takes, which field each part goes to, and the requests that submit it. Pure.
import type { EvidenceRequest } from "../../acquirers/acquirer.ts";
import { sha256 } from "../../ground/crypto.ts";
import { type Field, form } from "./requests.ts";

const TEXT_MAX = 20_000;
const FILE_BYTES_MAX = 5_000_000;
const fileTypes = new Set(["application/pdf", "image/jpeg", "image/png"]);

/** The fields that take a file, one each. Files whose names match no field fill them in this order. */
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
type FileField = (typeof fileFields)[number];
/** Words in a file's name, in English and Indonesian, that say which field it belongs to. */
const fieldByName: readonly (readonly [RegExp, FileField])[] = [
  [/receipt|invoice|faktur|struk|kuitansi/i, "receipt"],
  [/ship|deliver|resi|parcel|paket|kirim|courier|kurir/i, "shipping_documentation"],
  [/chat|mail|message|whatsapp|pesan|percakapan/i, "customer_communication"],
  [/contract|kontrak|work.?order|service/i, "service_documentation"],
];
export const FILES_MAX = fileFields.length;

/**
 * Says, before anything is sent, what Stripe would not take and what a person does then; undefined when all is well. Gerbang takes more and
 * larger files than Stripe. Files are named by their places, from 1: their names may contain personal data.
 */
export function objectionToEvidence(request: EvidenceRequest): string | undefined {
  const { files } = request;
  const objections: string[] = [];
  const length = evidenceText(request).length;
  if (length > TEXT_MAX)
    objections.push(`the statement has ${length} characters, and they take ${TEXT_MAX}: shorten it`);
  if (files.length > FILES_MAX)
    objections.push(`there are ${files.length} files, and they take ${FILES_MAX}: put several into one PDF`);
  for (const [index, { type, bytes }] of files.entries()) {
    const file = `file ${index + 1} of ${files.length}`;
    if (!fileTypes.has(type)) objections.push(`${file} is no PDF, JPEG or PNG: save it as one`);
    else if (bytes.length > FILE_BYTES_MAX)
      objections.push(`${file} has ${megabytes(bytes.length)} MB, and they take 5 MB: save it smaller, or split it`);
  }
  if (objections.length === 0) return undefined;
  return `${objections.join("; ")}. Then hand all of it in on the dispute's page in their dashboard, before its deadline`;
}

/** One decimal, rounded up: a file that is a byte too large has 5.1 MB. */
function megabytes(bytes: number): string {
  return (Math.ceil(bytes / 100_000) / 10).toFixed(1);
}

/** The field of each file: by its name if that matches one, the rest in order. There are never more files than fields. */
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

/** The text of the evidence, with the day of delivery, for which Stripe has no field. */
export function evidenceText({ statement, deliveredOn }: Pick<EvidenceRequest, "statement" | "deliveredOn">): string {
  return deliveredOn === undefined ? statement : `${statement}\n\nDelivered on ${deliveredOn}.`;
}

/** `POST /v1/disputes/:id`: all of the evidence, submitted for good. `fileIds` are the ids of the uploaded files, in order. */
export function evidenceOrder(request: EvidenceRequest, fileIds: readonly string[]): string {
  const fields = fieldsOf(request.files);
  const optional = (name: string, value: string | undefined): Field[] => (value === undefined ? [] : [[name, value]]);
  return form([
    ["evidence[uncategorized_text]", evidenceText(request)],
    ...optional("evidence[shipping_carrier]", request.carrier),
    ...optional("evidence[shipping_tracking_number]", request.trackingNumber),
    ...fileIds.map((id, index) => [`evidence[${fields[index]}]`, id] as const),
    ["metadata[operation_key]", request.operationKey],
    ["submit", "true"],
  ]);
}

/** `POST /v1/files` at Stripe's host for files. */
export function fileUpload({ name, type, bytes }: EvidenceRequest["files"][number]): {
  contentType: string;
  body: Buffer;
} {
  // The boundary is a hash of the file's bytes: a repeated upload is the same request, and no file contains the hash of itself.
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
