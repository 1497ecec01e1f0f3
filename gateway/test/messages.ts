// Requests signed by RFC 9421 for pure tests, made by hand so that any part can be wrong, before or after signing.
import { createHmac } from "node:crypto";
import { contentDigest } from "../src/auth/content-digest.ts";
import type { SignedMessage } from "../src/auth/signed-message.ts";
import { SECOND } from "../src/ground/clock.ts";
import { NOW } from "./given.ts";

export const ID = "ak_test_01j0000000abcdefghjkmnpqrs";
export const SECRET = "sk_test_secret";
export const NONCE = "n-0123456789abcdef";
export const seconds = NOW / SECOND;

/** A request whose parts a test may change before or after signing. */
export interface Request {
  method: string;
  target: string;
  body: string;
  headers: Record<string, string>;
  publicRoot: string | undefined;
}

export const request = (changes: Partial<Request> = {}): Request => ({
  method: "POST",
  target: "/v1/payments",
  body: '{"amount_minor":1}',
  headers: { host: "shop.test", "idempotency-key": "key-12345", "content-type": "application/json" },
  publicRoot: "https://pay.test",
  ...changes,
});

/** The components to sign, and the fields of the signature headers. */
interface Signing {
  components: string[];
  parameters: string;
  label: string;
  secret: string;
}

export const COMPONENTS = ["@method", "@target-uri", "content-digest", "idempotency-key"];
export const PARAMETERS = `;created=${seconds};keyid="${ID}";nonce="${NONCE}"`;

/** The request with its signature. */
export function signed(it: Request, changes: Partial<Signing> = {}): Request {
  const { components, parameters, label, secret } = {
    components: COMPONENTS,
    parameters: PARAMETERS,
    label: "sig1",
    secret: SECRET,
    ...changes,
  };
  const headers: Record<string, string> = { "content-digest": contentDigest(it.body), ...it.headers };
  const uri = it.target.startsWith("/") ? `${it.publicRoot ?? `http://${headers.host}`}${it.target}` : it.target;
  const { host, pathname, search, protocol } = new URL(uri);
  const values: Record<string, string> = {
    ...headers,
    "@method": it.method,
    "@target-uri": uri,
    "@authority": host,
    "@scheme": protocol.slice(0, -1),
    "@request-target": it.target,
    "@path": pathname,
    "@query": search === "" ? "?" : search,
  };
  const list = `(${components.map((name) => `"${name}"`).join(" ")})${parameters}`;
  const lines = components.map((name) => `"${name}": ${values[name] ?? ""}`);
  const base = [...lines, `"@signature-params": ${list}`].join("\n");
  const signature = createHmac("sha256", secret).update(base).digest("base64");
  return {
    ...it,
    headers: { ...headers, "signature-input": `${label}=${list}`, signature: `${label}=:${signature}:` },
  };
}

export const messageOf = ({ method, target, headers, publicRoot }: Request): SignedMessage => ({
  method,
  target,
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
  publicRoot,
});
