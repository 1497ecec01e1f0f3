// Sealing of secrets at rest with AES-256-GCM: the first key of a ring seals, and the key that a seal names opens it.
import { type KeyObject, createCipheriv, createDecipheriv, createSecretKey, hash, randomBytes } from "node:crypto";
import { Fault } from "./fault.ts";

const VERSION = 1;
const ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = "aes-256-gcm";
const OPTIONS = { authTagLength: TAG_BYTES };

interface RingKey {
  id: Buffer;
  key: KeyObject;
}

export class KeyRing {
  private readonly keys: readonly RingKey[];
  /** Receives the id of a key that sealed a secret and is not in the ring. */
  onMissing: ((keyId: string) => void) | undefined;

  /** `keys`: 32 random bytes each. The first seals; all of them open. */
  constructor(keys: readonly [Buffer, ...Buffer[]]) {
    this.keys = keys.map((key) => ({ id: keyIdOf(key), key: createSecretKey(key) }));
  }

  /** The first bytes of every new seal: the version byte and the id of the first key. */
  get head(): Buffer {
    return Buffer.concat([Buffer.of(VERSION), this.first.id]);
  }

  private get first(): RingKey {
    return this.keys[0] as RingKey;
  }

  /** Gives version byte, 4-byte key id, 12-byte nonce, ciphertext, 16-byte tag. Bound to `owner`: moved to another row it does not open. */
  seal(secret: string, owner: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.first.key, nonce, OPTIONS).setAAD(Buffer.from(owner));
    return Buffer.concat([this.head, nonce, cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()]);
  }

  /** Opens a seal. Throws SERVICE_UNAVAILABLE when its key is not here, for another process may have it; else when it was changed or moved. */
  open(sealed: Uint8Array, owner: string): string {
    const bytes = Buffer.from(sealed);
    const holder = this.holderOf(bytes);
    if (holder) return opened(holder.key, bytes.subarray(1 + ID_BYTES), owner);
    if (bytes[0] !== VERSION) throw new Error("unknown seal version");
    const keyId = bytes.toString("hex", 1, 1 + ID_BYTES);
    this.onMissing?.(keyId);
    const internal = new Error(`a secret was sealed with key ${keyId}, which is not here`);
    throw new Fault("SERVICE_UNAVAILABLE", { internal });
  }

  /** The ids of the keys, in hex, in their order. */
  get ids(): string[] {
    return this.keys.map(({ id }) => id.toString("hex"));
  }

  /** True when the seal names a key of the ring. */
  knows(sealed: Uint8Array): boolean {
    return this.holderOf(Buffer.from(sealed)) !== undefined;
  }

  private holderOf(bytes: Buffer): RingKey | undefined {
    if (bytes[0] !== VERSION) return undefined;
    return this.keys.find(({ id }) => bytes.subarray(1, 1 + ID_BYTES).equals(id));
  }
}

/** The id of a key, which reveals nothing about the key. */
function keyIdOf(key: Buffer): Buffer {
  return hash("sha256", Buffer.concat([Buffer.from("gerbang key id"), key]), "buffer").subarray(0, ID_BYTES);
}

/** Decrypts a seal. `bytes`: the seal from its nonce on. */
function opened(key: KeyObject, bytes: Buffer, owner: string): string {
  const end = bytes.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), OPTIONS);
  decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(end));
  return decipher.update(bytes.subarray(NONCE_BYTES, end), undefined, "utf8") + decipher.final("utf8");
}
