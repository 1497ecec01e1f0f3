// What providers and we said, as people may read it: secrets, cards, and what names or reaches a person are left out. Pure.
import { MalformedJson } from "../ground/json.ts";
import { redactJson, redactObject, redactQuery, redactText } from "../ground/redact.ts";

/** Of an answer that is no JSON, so much is kept. */
const TEXT_MAX = 1_000;

/** A request's body and its answer, one below the other. */
export function saidOf(request: string | Buffer | undefined, answer: Buffer | string | object): string {
  const asked = request === undefined ? "" : `> ${maskedBody(request)}\n`;
  return `${asked}< ${maskedBody(answer)}`;
}

/**
 * One body without what must not be kept: JSON (or the object that was read from it), a form's fields, or plain text. Bytes that are no text
 * are only counted.
 */
export function maskedBody(body: string | Buffer | object): string {
  if (typeof body === "object" && !Buffer.isBuffer(body)) return redactObject(body);
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  if (bytes.length === 0) return "(empty)";
  try {
    return redactJson(bytes);
  } catch (error) {
    if (!(error instanceof MalformedJson)) throw error;
  }
  const text = bytes.toString("utf8");
  if (text.includes("\ufffd")) return `(${bytes.length} bytes that are no text)`;
  if (/^[\w.[\]%+-]+=[^\s<]*$/.test(text)) return redactQuery(text);
  const short = redactText(text.slice(0, TEXT_MAX));
  return text.length > TEXT_MAX ? `${short}… (${bytes.length} bytes)` : short;
}
