// Reads the API's answers up to a size limit, and turns statuses and bodies into results or errors. A body may be something other than JSON.
import { GerbangError } from "./errors.ts";

/** Limit of an answer's body, in bytes. */
export const ANSWER_BYTES_MAX = 10_000_000;
const MESSAGE_MAX = 1_000;

/** What a call expects: text, a list, or an object; of an object, a field that it has, by which an answer of something else is told apart. */
export interface Expected {
  kind: "object" | "list" | "text";
  identity?: string | undefined;
}

export interface Answer {
  status: number;
  headers: Headers;
  requestId: string | undefined;
  /** The parsed JSON body; a string when the call asks for text. */
  body: unknown;
}

/** The id of a request; undefined for what would be none, and stand in a log. */
const idOf = (id: unknown): string | undefined => (typeof id === "string" && /^[\w-]{1,80}$/.test(id) ? id : undefined);
export const requestIdOf = (headers: Headers): string | undefined => idOf(headers.get("x-request-id"));

/** Reads an answer of the kind that the call expects. Throws a GerbangError unless the call succeeded. */
export async function readAnswer(response: Response, expected: Expected): Promise<Answer> {
  const { status, headers } = response;
  const requestId = requestIdOf(headers);
  const facts = { status, requestId };
  // Browsers hide redirects from scripts and report them with status 0.
  if (response.type === "opaqueredirect" || (status >= 300 && status < 400)) {
    await drop(response);
    throw new GerbangError({
      ...facts,
      code: "REDIRECTED",
      message: `The answer is a redirect (${status}). It was not followed.`,
    });
  }
  const text = await readText(response, facts);
  const type = headers.get("content-type") ?? "no content type";
  if (expected.kind === "text" && response.ok && /^text\/csv/i.test(type) && text !== "")
    return { status, headers, requestId, body: text };
  const body = parsed(text);
  const error = errorOf(body);
  // A payment under review is answered with 202 and an error. With another 2xx status an error is of something else than this API.
  const isRefused = !response.ok || status === 202;
  if (error !== undefined && isRefused) {
    throw new GerbangError({
      status,
      code: error.code,
      message: error.message.slice(0, MESSAGE_MAX),
      requestId: idOf(error.request_id) ?? requestId,
      details: isObject(error.details) ? error.details : undefined,
    });
  }
  if (isRefused || !isExpected(body, expected)) {
    const what = text === "" ? "an empty body" : `no JSON of this API (${type})`;
    throw new GerbangError({
      ...facts,
      code: "ANSWER_UNREADABLE",
      message: `The answer has status ${status} and ${what}.`,
    });
  }
  return { status, headers, requestId, body };
}

function isExpected(body: unknown, { kind, identity }: Expected): boolean {
  if (kind === "text" || !isObject(body) || isObject(body.error)) return false;
  if (kind === "list")
    return Array.isArray(body.data) && body.data.every(isObject) && typeof body.has_more === "boolean";
  return identity === undefined || (typeof body[identity] === "string" && body[identity] !== "");
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

async function readText(response: Response, facts: { status: number; requestId: string | undefined }): Promise<string> {
  const tooLarge = (): GerbangError =>
    new GerbangError({
      ...facts,
      code: "ANSWER_TOO_LARGE",
      message: `The answer has more than ${ANSWER_BYTES_MAX} bytes. It was not read to its end.`,
    });
  const announced = Number(response.headers.get("content-length") ?? 0);
  if (announced > ANSWER_BYTES_MAX) {
    await drop(response);
    throw tooLarge();
  }
  if (response.body === null) return "";
  // Most answers are small and announce their length, so no stream is needed.
  if (announced > 0 && !response.headers.has("content-encoding")) return response.text();
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > ANSWER_BYTES_MAX) {
      await reader.cancel();
      throw tooLarge();
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Releases the connection without reading the rest of the body. */
async function drop(response: Response): Promise<void> {
  await response.body?.cancel();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface ErrorBody {
  code: string;
  message: string;
  request_id?: unknown;
  details?: unknown;
}

/** The error in a body; undefined unless the body is the API's error envelope. */
function errorOf(body: unknown): ErrorBody | undefined {
  if (!isObject(body) || !isObject(body.error)) return undefined;
  const { code, message } = body.error;
  const isText = typeof code === "string" && typeof message === "string";
  return isText && /^[A-Z][A-Z0-9_]{0,79}$/.test(code) ? (body.error as unknown as ErrorBody) : undefined;
}
