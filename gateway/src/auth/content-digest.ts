// Whether a Content-Digest (RFC 9530) is that of the body that came with it. Knows nothing of signatures.
import { hash, timingSafeEqual } from "node:crypto";
import { parseDictionary } from "../ground/structured-fields.ts";

/** Algorithms that are trusted, by their names in the header and in Node. Others may stand beside one of them, and prove nothing. */
const algorithms: ReadonlyMap<string, string> = new Map([
  ["sha-256", "sha256"],
  ["sha-512", "sha512"],
]);

const BOUNDS = { characters: 1_024, members: 8, itemsOfList: 0, parameters: 0 };

/** What is wrong with a Content-Digest. */
export type DigestProblem = "digest_malformed" | "digest_unknown" | "digest_differs";

/** Undefined when at least one digest is of a known algorithm and every such one is that of the body, which may be empty. */
export function digestProblem(header: string, body: Buffer): DigestProblem | undefined {
  const members = parseDictionary(header, BOUNDS);
  if (!members) return "digest_malformed";
  let known = 0;
  for (const [name, member] of members) {
    if (member.kind !== "item" || !Buffer.isBuffer(member.item.bare.value)) return "digest_malformed";
    const algorithm = algorithms.get(name);
    if (algorithm === undefined) continue;
    const digest = hash(algorithm, body, "buffer");
    const { value } = member.item.bare;
    if (value.length !== digest.length || !timingSafeEqual(value, digest)) return "digest_differs";
    known++;
  }
  return known > 0 ? undefined : "digest_unknown";
}

/** The header for a body, as a client sends it. */
export function contentDigest(body: string | Uint8Array): string {
  return `sha-256=:${hash("sha256", body, "base64")}:`;
}
