// The key pair of the SNAP tests. It was made for the vectors of the official client and is used for nothing else.
import { createPrivateKey, createPublicKey } from "node:crypto";
import vectors from "./snap-client-vectors.json" with { type: "json" };

const der = (text: string): Buffer => Buffer.from(text, "base64");
export const privatePem = createPrivateKey({ key: der(vectors.privateKeyDer), format: "der", type: "pkcs8" }).export({
  format: "pem",
  type: "pkcs8",
});
export const publicPem = createPublicKey({ key: der(vectors.publicKeyDer), format: "der", type: "spki" }).export({
  format: "pem",
  type: "spki",
});
export { vectors };
