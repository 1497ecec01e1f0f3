// A file as the body of a request: its name and its size come in headers, its bytes as a stream.
import type { FastifyRequest } from "fastify";
import { validationFault } from "../ground/fault.ts";
import { streamBody } from "./body.ts";

const NAME_MAX = 200;

export interface SentFile {
  /** Name that the sender gave, without control and format characters. */
  name: string;
  /** The size that the client announced. */
  sizeBytes: number;
  /** Can be read once. */
  body: AsyncIterable<Buffer>;
}

/** Gives the file that a request sends. Throws VALIDATION_ERROR when its name or its size is missing. */
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
  // Replaces control and format characters: with a right-to-left mark a name would look like another one.
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
