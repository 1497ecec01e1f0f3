// Reading an answer: bounded, and never believed to be JSON before it is. Statuses and bodies become results or errors.
import { GerbangError } from "./errors.ts";

/** The most that is read of one answer. */
export const ANSWER_BYTES_MAX = 10_000_000;

export interface Answer {
  status: number;
  headers: Headers;
  requestId: string | undefined;
  /** The parsed body; a text where the call asks for text. */
  body: unknown;
}

/** Reads the answer of a call that expects `kind`. Throws a GerbangError for everything but a success. */
export async function readAnswer(response: Response, kind: "json" | "text"): Promise<Answer> {
  const { status, headers } = response;
  const requestId = headers.get("x-request-id") ?? undefined;
  const facts = { status, requestId };
  // Where redirects are hidden from scripts the status is 0.
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
  // Most answers are announced and small: they are read in one go.
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

/** Lets the connection go without reading on. */
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

/** The error of an answer's body, if it is the API's envelope. */
function errorOf(body: unknown): ErrorBody | undefined {
  if (typeof body !== "object" || body === null || !("error" in body)) return undefined;
  const { error } = body;
  if (typeof error !== "object" || error === null) return undefined;
  const { code, message } = error as Partial<ErrorBody>;
  return typeof code === "string" && typeof message === "string" ? (error as ErrorBody) : undefined;
}
