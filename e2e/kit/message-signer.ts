// Signs requests by RFC 9421, as a merchant's system does. It was written from the guide and shares no code with the service.
import { createHash, createHmac, randomUUID } from "node:crypto";

export interface MessageToSign {
  clientId: string;
  secret: string;
  method: string;
  /** The complete address that is called. */
  url: string;
  body?: string | Buffer | undefined;
  /** Further headers to send. The signature covers `Idempotency-Key` when it is among them. */
  headers?: Record<string, string>;
  /** Unix seconds; now when absent. */
  created?: number | undefined;
  nonce?: string | undefined;
}

/** Gives the headers to send, with names in lower case: the given ones and those of the signature. */
export function signMessage(message: MessageToSign): Record<string, string> {
  const {
    clientId,
    secret,
    method,
    url,
    body = "",
    created = Math.floor(Date.now() / 1000),
    nonce = randomUUID(),
  } = message;
  const given = Object.entries(message.headers ?? {}).map(([name, value]): [string, string] => [
    name.toLowerCase(),
    value,
  ]);
  const digest = `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;
  const headers: Record<string, string> = { "content-digest": digest, ...Object.fromEntries(given) };
  const covered: [string, string][] = [
    ["@method", method],
    ["@target-uri", url],
    ["content-digest", headers["content-digest"] ?? ""],
  ];
  const key = headers["idempotency-key"];
  if (key !== undefined) covered.push(["idempotency-key", key]);
  const names = covered.map(([name]) => `"${name}"`).join(" ");
  const parameters = `(${names});created=${created};keyid="${clientId}";nonce="${nonce}"`;
  const base = [...covered.map(([name, value]) => `"${name}": ${value}`), `"@signature-params": ${parameters}`].join(
    "\n",
  );
  return {
    ...headers,
    authorization: `Bearer ${clientId}`,
    "signature-input": `sig1=${parameters}`,
    signature: `sig1=:${createHmac("sha256", secret).update(base).digest("base64")}:`,
  };
}
