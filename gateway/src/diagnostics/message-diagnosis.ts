// Signature diagnostics for message signatures: finds the mistake of a refused request that was signed by RFC 9421. No I/O; the texts are
// in message-diagnoses.ts.
import { isInTimestampWindow } from "../ground/crypto.ts";
import { SigningKey } from "../ground/signing-key.ts";
import { timingSafeEqual } from "node:crypto";
import { contentDigest } from "../auth/content-digest.ts";
import { baseText, bodyProblem, ownSignature, readSignature, requiredOf, signBase } from "../auth/message-signature.ts";
import { type SignedMessage, addressOf, componentValue, fieldValue, isComponentName } from "../auth/signed-message.ts";
import { type InnerList, type Item, innerListText } from "../ground/structured-fields.ts";
import type { RejectedMessage } from "../http/edge.ts";
import { canonicalTarget } from "../http/request-target.ts";
import type { Diagnosed } from "./rejected-requests.sql.ts";
import { type SecretsAtHand, keyMistake } from "./signature-diagnosis.ts";

const BASE_MAX = 4_000;

/** Gives the first diagnosis that fits the request. `receivedAt` is in Unix seconds. */
export function diagnoseMessage(
  { claim, message, body }: RejectedMessage,
  secrets: SecretsAtHand,
  receivedAt: number,
): Pick<Diagnosed, "diagnosis" | "subject" | "base"> {
  const own = ownSignature(claim);
  if ("objection" in own) return { diagnosis: own.objection.problem, subject: own.objection.subject };
  const expected = expectedLines(message, own.list, body);
  const shown = baseOf(expected, own.list);
  const base = shown.includes(secrets.own) ? undefined : cut(shown);
  const read = readSignature(message, claim);
  if ("objection" in read) return { diagnosis: read.objection.problem, subject: read.objection.subject, base };
  const fits = (key: string | Buffer, text = read.base): boolean =>
    timingSafeEqual(signBase(new SigningKey(key), text), read.signature);

  if (fits(secrets.own)) {
    if (!isInTimestampWindow(read.created, receivedAt))
      return { diagnosis: "created_window", subject: "created", base };
    if (read.expires !== undefined && read.expires < receivedAt)
      return { diagnosis: "expired", subject: "expires", base };
    const wrong = bodyProblem(message, body);
    return wrong ? { diagnosis: wrong, subject: "content-digest", base } : { diagnosis: "genuine" };
  }
  const key = keyMistake(claim.clientId, secrets, (candidate) => fits(candidate));
  if (key) return { diagnosis: key, base };
  const sent = linesOf(message, own.list);
  for (const [name, value] of otherValues(message, sent))
    if (fits(secrets.own, baseOf(new Map([...sent, [name, value]]), own.list)))
      return { diagnosis: "component_differs", subject: name, base };
  for (const text of otherForms(sent, own.list)) if (fits(secrets.own, text)) return { diagnosis: "base_form", base };
  return { diagnosis: "base_unknown", base };
}

/** Names and values of the components that the signature covers, from the request. */
function linesOf(message: SignedMessage, list: InnerList): Map<string, string> {
  const address = addressOf(message);
  const lines = new Map<string, string>();
  for (const { bare } of list.items) {
    const name = String(bare.value);
    if (bare.kind !== "string" || !isComponentName(name)) continue;
    const value = componentValue(message, address, name);
    if (value !== undefined) lines.set(name, value);
  }
  return lines;
}

/** The same with all required components, and with the digest of the body that arrived. */
function expectedLines(message: SignedMessage, list: InnerList, body: Buffer): Map<string, string> {
  const lines = linesOf(message, list);
  const address = addressOf(message);
  for (const name of requiredOf(message)) {
    const value = componentValue(message, address, name);
    if (!lines.has(name) && value !== undefined) lines.set(name, value);
  }
  if (bodyProblem(message, body)) lines.set("content-digest", contentDigest(body));
  return lines;
}

/** The signature base of these components, with the parameters of the signature. */
function baseOf(lines: ReadonlyMap<string, string>, { parameters }: InnerList): string {
  const items = [...lines.keys()].map((name): Item => ({
    bare: { kind: "string", text: `"${name}"`, value: name },
    parameters: new Map(),
  }));
  return baseText(lines, innerListText({ items, parameters }));
}

/** Wrong values that clients sign in place of a component's value. */
function* otherValues(message: SignedMessage, sent: ReadonlyMap<string, string>): Generator<[string, string]> {
  for (const [name, value] of sent) {
    if (name === "@method") for (const method of [value.toLowerCase(), "GET", "POST"]) yield [name, method];
    if (name === "@target-uri") for (const uri of otherUris(message, value)) yield [name, uri];
    if (name === "@query") yield [name, value.slice(1)];
    if (name === "@authority") yield [name, message.headers.host?.[0] ?? ""];
    if (name === "content-digest") yield [name, contentDigest("")];
    if (!name.startsWith("@")) for (const text of [`"${value}"`, value.toLowerCase()]) yield [name, text];
  }
}

function otherUris(message: SignedMessage, uri: string): string[] {
  const { target } = message;
  const [origin = ""] = /^https?:\/\/[^/?#]+/i.exec(uri) ?? [];
  const path = target.split("?")[0] ?? "";
  const host = (fieldValue(message, "host") ?? "").toLowerCase();
  const roots = [origin, origin.replace(/^http:/, "https:"), origin.replace(/^https:/, "http:")];
  for (const scheme of ["http", "https"]) {
    roots.push(`${scheme}://${host}`, `${scheme}://${host.replace("127.0.0.1", "localhost")}`);
    roots.push(`${scheme}://${host.replace("localhost", "127.0.0.1")}`, `${scheme}://${host.replace(/:\d+$/, "")}`);
  }
  const targets = [target, canonicalTarget(target), path, `${path}/`, path.replace(/^\/v1/, "")];
  return [...targets, ...new Set(roots.flatMap((root) => targets.map((other) => root + other)))];
}

/** The right components joined in wrong ways. */
function* otherForms(sent: ReadonlyMap<string, string>, list: InnerList): Generator<string> {
  const base = baseOf(sent, list);
  const lines = base.split("\n");
  yield `${base}\n`;
  yield lines.join("\r\n");
  yield lines.join("");
  yield lines.slice(0, -1).join("\n");
  yield `${lines.slice(0, -1).join("\n")}\n`;
  yield lines.map((line) => line.replace(/^"([^"]+)":/, "$1:")).join("\n");
  yield lines.map((line) => line.replace(/^("[^"]+"): /, "$1:")).join("\n");
  yield base.replace(/"@signature-params": /, "");
  const bare = innerListText({ items: [], parameters: list.parameters }).slice("()".length);
  yield base.replace(bare, "");
}

function cut(base: string): string {
  return base.length > BASE_MAX ? `${base.slice(0, BASE_MAX - 1)}…` : base;
}
