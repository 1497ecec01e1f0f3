// Reads the API's answers up to a size limit, and turns statuses and bodies into results or errors. A body may be something other than JSON.
import { GerbangError } from "./errors.ts";

/** Limit of an answer's body, in bytes. */
export const ANSWER_BYTES_MAX = 10_000_000;

export interface Answer {
  status: number;
  headers: Headers;
  requestId: string | undefined;
  /** The parsed JSON body; a string when the call asks for text. */
  body: unknown;
}

/** Reads an answer of the kind that the call expects. Throws a GerbangError unless the call succeeded. */
export async function readAnswer(response: Response, kind: "json" | "text"): Promise<Answer> {
  const { status, headers } = response;
  const requestId = headers.get("x-request-id") ?? undefined;
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
  if (kind === "text" && response.ok) return { status, headers, requestId, body: text };
  const body = parsed(text);
  const error = errorOf(body);
  if (error !== undefined) {
    throw new GerbangError({
      status,
      code: error.code,
      message: error.message,
      requestId: error.request_id ?? requestId,
      details: error.details,
    });
  }
  if (!response.ok || typeof body !== "object" || body === null) {
    const what =
      text === "" ? "an empty body" : `no JSON of this API (${headers.get("content-type") ?? "no content type"})`;
    throw new GerbangError({
      ...facts,
      code: "ANSWER_UNREADABLE",
      message: `The answer has status ${status} and ${what}.`,
    });
  }
  return { status, headers, requestId, body };
}

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
  request_id?: string;
  details?: Record<string, unknown>;
}

/** The error in a body; undefined unless the body is the API's error envelope. */
function errorOf(body: unknown): ErrorBody | undefined {
  if (typeof body !== "object" || body === null || !("error" in body)) return undefined;
  const { error } = body;
  if (typeof error !== "object" || error === null) return undefined;
  const { code, message } = error as Partial<ErrorBody>;
  return typeof code === "string" && typeof message === "string" ? (error as ErrorBody) : undefined;
}
