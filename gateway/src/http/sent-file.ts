// A file as the body of a request: its name in a header, its size told beforehand, its bytes as they arrive.
import type { FastifyRequest } from "fastify";
import { validationFault } from "../ground/fault.ts";
import { streamBody } from "./body.ts";

const NAME_MAX = 200;

export interface SentFile {
  /** As its maker calls it, without what makes a text read as another. */
  name: string;
  sizeBytes: number;
  /** Read once at most. */
  body: AsyncIterable<Buffer>;
}

/** The file that a request sends. Throws VALIDATION_ERROR when its name or its size is not said. */
export function sentFile(request: FastifyRequest): SentFile {
  return { name: nameOf(request), sizeBytes: sizeOf(request), body: streamBody(request.raw) };
}

function nameOf({ raw }: FastifyRequest): string {
  const sent = raw.headersDistinct["x-file-name"];
  const text = sent?.length === 1 ? decoded(sent[0] ?? "") : undefined;
  if (text === undefined || !text.isWellFormed())
    throw validationFault(
      "X-File-Name",
      sent?.[0],
      "Send the header X-File-Name, once: the file's name, percent-encoded as UTF-8.",
    );
  // Control and format characters: a name written from right to left would read as another.
  const name = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "_").trim();
  const { length } = [...name];
  if (length < 1 || length > NAME_MAX)
    throw validationFault(
      "X-File-Name",
      name,
      `The file's name has ${length} characters: give it one of 1 to ${NAME_MAX}.`,
    );
  return name;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function sizeOf({ raw }: FastifyRequest): number {
  const { "content-length": length, "transfer-encoding": encoding } = raw.headers;
  if (encoding !== undefined)
    throw validationFault("Content-Length", null, "Send the header Content-Length: the file's size in bytes.");
  return Number(length ?? 0);
}
