// Explains failures in words for people: the API's errors with advice, and what the machine refuses.
import { GerbangError } from "../../sdk/src/errors.ts";
import { shown } from "./output/text.ts";

/** A problem that the user of the command can put right, in a sentence. */
export class Trouble extends Error {
  override name = "Trouble";
}

/** The sentence for an error that is not a fault of the program; undefined for every other error, whose stack is needed. */
export function explain(error: unknown): string | undefined {
  if (error instanceof Trouble) return error.message;
  if (error instanceof GerbangError) return ofApi(error);
  if (!(error instanceof Error)) return undefined;
  const { code, path } = error as NodeJS.ErrnoException;
  if (path !== undefined && (code === "EACCES" || code === "EPERM" || code === "EROFS"))
    return `${path} cannot be used (${code}). XDG_CONFIG_HOME names another folder.`;
  if (path !== undefined && code === "ENOSPC") return `${path} cannot be written: the disk is full.`;
  return undefined;
}

function ofApi({
  code,
  message,
  advice,
  requestId,
  cause,
  outcomeUnknown,
  idempotencyKey,
  details,
}: GerbangError): string {
  const why = (cause as { cause?: { message?: unknown }; message?: unknown } | undefined) ?? {};
  const inner = why.cause?.message ?? why.message;
  const field = details?.field;
  return [
    `${shown(code)}: ${shown(message)}${typeof inner === "string" && inner !== message ? ` (${shown(inner)})` : ""}`,
    ...(typeof field === "string" && !message.includes(field) ? [`Field: ${shown(field)}`] : []),
    advice,
    ...(outcomeUnknown && idempotencyKey !== undefined
      ? [`It may have been done. The same again: --idempotency-key ${idempotencyKey}`]
      : []),
    ...(requestId === undefined ? [] : [`Request: ${shown(requestId)}`]),
  ].join("\n");
}
