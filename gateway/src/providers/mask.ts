// Masks requests and responses so that people may read them: removes secrets, cards and personal data. Pure.
import { objectOf } from "../ground/json.ts";
import { redactObject, redactQuery, redactText } from "../ground/redact.ts";

/** Maximum number of characters kept of a body that is not JSON. */
const TEXT_MAX = 1_000;

/** The masked body of a request, and below it that of the response. */
export function exchangeText(request: string | Buffer | undefined, answer: Buffer | string | object): string {
  return `${request === undefined ? "" : `> ${maskedBody(request)}\n`}< ${maskedBody(answer)}`;
}

/** Masks one body: JSON (or the object that was read from it), form fields, or plain text. Of bytes that are not text only the number is kept. */
export function maskedBody(body: string | Buffer | object): string {
  if (typeof body === "object" && !Buffer.isBuffer(body)) return redactObject(body);
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  if (bytes.length === 0) return "(empty)";
  const object = objectOf(bytes);
  if (object !== undefined) return redactObject(object);
  const text = bytes.toString("utf8");
  if (text.includes("\ufffd")) return `(${bytes.length} bytes that are no text)`;
  if (/^[\w.[\]%+-]+=[^\s<]*$/.test(text)) return redactQuery(text);
  const short = redactText(text.slice(0, TEXT_MAX));
  return text.length > TEXT_MAX ? `${short}… (${bytes.length} bytes)` : short;
}
