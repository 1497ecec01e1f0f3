// Checks that a Content-Digest header (RFC 9530) fits the body of its request. Does not check signatures.
import { hash, timingSafeEqual } from "node:crypto";
import { parseDictionary } from "../ground/structured-fields.ts";

/** Trusted algorithms, which Node knows by the same names. Digests of others may stand beside them and are ignored. */
const algorithms: ReadonlySet<string> = new Set(["sha-256", "sha-512"]);

const BOUNDS = { characters: 1_024, members: 8, itemsOfList: 0, parameters: 0 };

export type DigestProblem = "digest_malformed" | "digest_unknown" | "digest_differs";

/** Gives undefined when at least one digest has a trusted algorithm and all of these fit the body, which may be empty. */
export function digestProblem(header: string, body: Buffer): DigestProblem | undefined {
  const members = parseDictionary(header, BOUNDS);
  if (!members) return "digest_malformed";
  let known = 0;
  for (const [name, member] of members) {
    if (member.kind !== "item" || !Buffer.isBuffer(member.item.bare.value)) return "digest_malformed";
    if (!algorithms.has(name)) continue;
    const digest = hash(name, body, "buffer");
    const { value } = member.item.bare;
    if (value.length !== digest.length || !timingSafeEqual(value, digest)) return "digest_differs";
    known++;
  }
  return known > 0 ? undefined : "digest_unknown";
}

/** The `Content-Digest` header that a client sends with a body. */
export function contentDigest(body: string | Uint8Array): string {
  return `sha-256=:${hash("sha256", body, "base64")}:`;
}
