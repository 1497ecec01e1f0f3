// SHA-256 and HMAC-SHA256: Node's own where the platform has them, because they answer at once; WebCrypto, which sends each through a thread, elsewhere.

type Bytes = Uint8Array<ArrayBuffer>;

/** HMAC-SHA256 with one key, which cannot be read out. */
export type Hmac = (text: string | Bytes) => Uint8Array | Promise<Uint8Array>;

export interface Hashing {
  sha256: (text: string) => Uint8Array | Promise<Uint8Array>;
  hmac: (secret: Bytes) => Promise<Hmac>;
}

interface Hash {
  update(text: string | Bytes): Hash;
  digest(): Uint8Array;
}

/** The part of `node:crypto` that is used. Node, Bun and Deno have it. */
export interface NodeCrypto {
  createHash: (algorithm: string) => Hash;
  createHmac: (algorithm: string, key: never) => Hash;
  createSecretKey: (secret: Bytes) => unknown;
}

export const encoder = new TextEncoder();

export const webHashing: Hashing = {
  sha256: async (text) => new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(text))),
  hmac: async (secret) => {
    const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    return async (text) =>
      new Uint8Array(await crypto.subtle.sign("HMAC", key, typeof text === "string" ? encoder.encode(text) : text));
  },
};

export const nodeHashing = ({ createHash, createHmac, createSecretKey }: NodeCrypto): Hashing => ({
  sha256: (text) => createHash("sha256").update(text).digest(),
  hmac: async (secret) => {
    const key = createSecretKey(secret) as never;
    return (text) => createHmac("sha256", key).update(text).digest();
  },
});

interface Platform {
  process?: { getBuiltinModule?(name: string): unknown };
}
const node = (globalThis as Platform).process?.getBuiltinModule?.("node:crypto") as NodeCrypto | undefined;
export const hashing: Hashing = node ? nodeHashing(node) : webHashing;
