// The command `gerbang sign`: prints the headers of a signed request, by the interface's own scheme or by RFC 9421.
import { randomUUID } from "node:crypto";
import { contentDigest } from "../auth/content-digest.ts";
import { baseText, signBase } from "../auth/message-signature.ts";
import { SECOND, systemClock } from "../ground/clock.ts";
import { sign } from "../ground/crypto.ts";
import { environmentVariable } from "../ground/secret-source.ts";
import { SigningKey } from "../ground/signing-key.ts";
import { UsageError } from "./command.ts";
import type { SignValues } from "./developer.commands.ts";

export function signCommand(given: SignValues): Promise<number> {
  const { "client-id": clientId, body } = given;
  const secret = given.secret ?? environmentVariable("GERBANG_SECRET");
  if (secret === undefined) throw new UsageError("set GERBANG_SECRET to the key's secret, or give it as --secret");
  const wrong = objectionTo(given);
  if (wrong !== undefined) throw new UsageError(wrong);
  const timestamp = given.timestamp ?? String(Math.floor(systemClock.now() / SECOND));
  const method = (given.method ?? (body === "" ? "GET" : "POST")).toUpperCase();
  const key = given["idempotency-key"] ?? (method !== "GET" || body !== "" ? randomUUID() : undefined);
  const proof = given.rfc9421
    ? messageHeaders({ ...given, secret }, method, timestamp, key)
    : [`X-Timestamp: ${timestamp}`, `X-Signature: ${sign(new SigningKey(secret), timestamp, body)}`];
  const headers = [
    `Authorization: Bearer ${clientId}`,
    ...proof,
    ...(key === undefined ? [] : [`Idempotency-Key: ${key}`]),
    ...(body === "" ? [] : ["Content-Type: application/json"]),
  ];
  process.stdout.write(`${headers.join("\n")}\n`);
  return Promise.resolve(0);
}

/** Says which option is missing, or does not belong to the others; undefined when all is well. */
function objectionTo({ rfc9421, url, nonce }: SignValues): string | undefined {
  if (!rfc9421)
    return url === undefined && nonce === undefined
      ? undefined
      : "--url and --nonce belong to --rfc9421: X-Signature covers neither";
  if (url === undefined || !/^https?:\/\/[^/?#\s]+[^#\s]*$/i.test(url) || !URL.canParse(url))
    return "--url is needed with --rfc9421: the whole address that you call, such as http://127.0.0.1:8080/v1/balances";
  if (nonce !== undefined && !/^[!#-[\]-~]{16,64}$/.test(nonce))
    return "--nonce has 16 to 64 characters, without quotes, backslashes and spaces";
  return undefined;
}

/** The headers of RFC 9421: `Content-Digest`, `Signature-Input`, `Signature`. */
function messageHeaders(
  given: SignValues & { secret: string },
  method: string,
  timestamp: string,
  key: string | undefined,
): string[] {
  const { "client-id": clientId, secret, body, url = "", nonce = randomUUID() } = given;
  const digest = contentDigest(body);
  const components: [string, string][] = [
    ["@method", method],
    ["@target-uri", addressAsSent(url)],
    ["content-digest", digest],
    ...(key === undefined ? [] : [["idempotency-key", key] as [string, string]]),
  ];
  const names = components.map(([name]) => `"${name}"`).join(" ");
  const parameters = `(${names});created=${timestamp};keyid="${clientId}";nonce="${nonce}"`;
  const signature = signBase(new SigningKey(secret), baseText(components, parameters)).toString("base64");
  return [`Content-Digest: ${digest}`, `Signature-Input: sig1=${parameters}`, `Signature: sig1=:${signature}:`];
}

/** The address as HTTP clients send it: its origin normalised, its path and query as they were typed. */
function addressAsSent(url: string): string {
  const rest = url.replace(/^https?:\/\/[^/?]+/i, "");
  return new URL(url).origin + (rest.startsWith("/") ? rest : `/${rest}`);
}
