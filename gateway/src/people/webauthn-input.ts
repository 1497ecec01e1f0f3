// Checks of a browser's WebAuthn response before the library sees it: size, signed challenge, embedding page, attestation format.

const CLIENT_DATA_MAX = 4_096;

/** The challenge that a response answers, in base64url; undefined when there is none, or the page was embedded in a page of another origin. */
export function challengeOf(sent: string): string | undefined {
  if (sent.length > CLIENT_DATA_MAX) return undefined;
  let data: unknown;
  try {
    data = JSON.parse(Buffer.from(sent, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
  if (typeof data !== "object" || data === null) return undefined;
  const { challenge, crossOrigin } = data as { challenge?: unknown; crossOrigin?: unknown };
  if (typeof challenge !== "string" || !/^[\w-]{1,200}$/.test(challenge)) return undefined;
  // The library accepts a cross-origin response when the browser does not name the outer page.
  if (crossOrigin !== undefined && crossOrigin !== false) return undefined;
  return challenge;
}

/**
 * True when a new passkey has no certificates, as our options ask. The library would parse certificates, and fetch revocation lists from addresses
 * inside some of them: unneeded code that every signed-in person could reach.
 */
export async function isPlainAttestation(sent: string): Promise<boolean> {
  const { decodeAttestationObject, isoBase64URL } = await import("@simplewebauthn/server/helpers");
  try {
    const object = decodeAttestationObject(isoBase64URL.toBuffer(sent));
    const format = object.get("fmt");
    if (format === "none") return true;
    return format === "packed" && object.get("attStmt").get("x5c") === undefined;
  } catch {
    return false;
  }
}
