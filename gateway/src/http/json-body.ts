// The JSON body of a merchant's request, and its content type, which is judged only once the sender is known.
import type { FastifyRequest } from "fastify";
import { Fault } from "../ground/fault.ts";
import { parseObject } from "../ground/json.ts";

/** The object in a body. Throws MALFORMED_JSON, also for another content type. */
export function readJson(request: FastifyRequest, body: Buffer): Record<string, unknown> {
  if (isJson(request.sentContentType)) return parseObject(body);
  throw new Fault("MALFORMED_JSON", { message: "Send the body with the header Content-Type: application/json." });
}

/** True for `application/json`, with no other parameter than `charset=utf-8`, which some libraries spell `utf8`. */
function isJson(contentType: string): boolean {
  if (contentType.length > 100) return false;
  const [type, ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase());
  return type === "application/json" && parameters.every((parameter) => /^(|charset="?utf-?8"?)$/.test(parameter));
}

/** Hides the content type from Fastify, because `readJson` checks it after authentication. */
export function setAsideContentType(request: FastifyRequest): void {
  const { headers } = request.raw;
  request.sentContentType = headers["content-type"] ?? "";
  headers["content-type"] = "application/octet-stream";
}
