// What is looked at of a browser's answer before the library sees it: the challenge it signed, and how much there is to check.

export interface ClientData {
  challenge: Buffer;
  /** As it was sent. */
  challengeText: string;
}

const CLIENT_DATA_MAX = 4_096;

/** The challenge that an answer is for; undefined when it says none, or comes out of a page inside somebody else's page. */
export function clientDataOf(sent: string): ClientData | undefined {
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
  // The library lets these pass where the browser does not say which page is around it.
  if (crossOrigin !== undefined && crossOrigin !== false) return undefined;
  return { challenge: Buffer.from(challenge, "base64url"), challengeText: challenge };
}

/**
 * True when a new passkey comes without certificates, as it was asked for. Others would be read, and for some the lists of revoked ones be
 * fetched from addresses that stand in them: code that nobody here needs, open to whoever is signed in.
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
