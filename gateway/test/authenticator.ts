// A device with passkeys, in software: registers and signs by WebAuthn (ES256, CBOR by hand), and can be made to misbehave.
import { type KeyObject, generateKeyPairSync, hash, randomBytes, sign } from "node:crypto";
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/server";

type Cbor = number | string | Buffer | ReadonlyMap<number | string, Cbor> | readonly Cbor[];

function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.of((major << 5) | length);
  if (length < 256) return Buffer.of((major << 5) | 24, length);
  return Buffer.of((major << 5) | 25, length >> 8, length & 255);
}

function cbor(value: Cbor): Buffer {
  if (typeof value === "number") return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (typeof value === "string") return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)]);
  const entries = [...(value as ReadonlyMap<number | string, Cbor>)];
  return Buffer.concat([head(5, entries.length), ...entries.flatMap(([name, held]) => [cbor(name), cbor(held)])]);
}

const sha256 = (data: string | Buffer): Buffer => hash("sha256", data, "buffer");
const text = (bytes: Buffer): string => bytes.toString("base64url");

/** Fields that browser and device send with these values instead of the right ones. */
export interface Misbehaviour {
  origin?: string;
  rpId?: string;
  challenge?: string;
  type?: string;
  crossOrigin?: boolean;
  /** Bits: user present 1, verified 4, eligible for backup 8, backed up 16. */
  flags?: number;
  counter?: number;
  userHandle?: string | undefined;
  attestation?: { fmt: string; attStmt: ReadonlyMap<string, Cbor> } | undefined;
}

const VERIFIED = 1 | 4;
const HAS_CREDENTIAL = 64;

export class SoftwareAuthenticator {
  readonly credentialId: Buffer;
  private readonly origin: string;
  private readonly privateKey: KeyObject;
  private readonly publicKey: KeyObject;
  private userHandle = "";
  counter = 0;

  constructor(origin: string, credentialId: Buffer = randomBytes(16)) {
    this.origin = origin;
    this.credentialId = credentialId;
    ({ privateKey: this.privateKey, publicKey: this.publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" }));
  }

  create(options: PublicKeyCredentialCreationOptionsJSON, wrong: Misbehaviour = {}): RegistrationResponseJSON {
    this.userHandle = options.user.id;
    const { x = "", y = "" } = this.publicKey.export({ format: "jwk" });
    const cose = new Map<number, Cbor>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, "base64url")],
      [-3, Buffer.from(y, "base64url")],
    ]);
    const length = Buffer.of(this.credentialId.length >> 8, this.credentialId.length & 255);
    const credential = Buffer.concat([Buffer.alloc(16), length, this.credentialId, cbor(cose)]);
    const flags = (wrong.flags ?? VERIFIED) | HAS_CREDENTIAL;
    const authData = Buffer.concat([this.authData(options.rp.id ?? "", { ...wrong, flags }), credential]);
    const { fmt, attStmt } = wrong.attestation ?? { fmt: "none", attStmt: new Map<string, Cbor>() };
    const object = new Map<string, Cbor>([
      ["fmt", fmt],
      ["attStmt", attStmt],
      ["authData", authData],
    ]);
    return {
      ...this.answer(),
      response: {
        clientDataJSON: this.clientData("webauthn.create", options.challenge, wrong),
        attestationObject: text(cbor(object)),
        transports: ["internal"],
      },
    };
  }

  get(options: PublicKeyCredentialRequestOptionsJSON, wrong: Misbehaviour = {}): AuthenticationResponseJSON {
    const authData = this.authData(options.rpId ?? "", wrong);
    const clientDataJSON = this.clientData("webauthn.get", options.challenge, wrong);
    const signed = Buffer.concat([authData, sha256(Buffer.from(clientDataJSON, "base64url"))]);
    const userHandle = "userHandle" in wrong ? wrong.userHandle : this.userHandle;
    return {
      ...this.answer(),
      response: {
        clientDataJSON,
        authenticatorData: text(authData),
        signature: text(sign("sha256", signed, this.privateKey)),
        ...(userHandle === undefined ? {} : { userHandle }),
      },
    };
  }

  private answer() {
    const id = text(this.credentialId);
    return { id, rawId: id, type: "public-key" as const, clientExtensionResults: {} };
  }

  private authData(rpId: string, wrong: Misbehaviour): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(wrong.counter ?? this.counter);
    return Buffer.concat([sha256(wrong.rpId ?? rpId), Buffer.of(wrong.flags ?? VERIFIED), counter]);
  }

  private clientData(type: string, challenge: string, wrong: Misbehaviour): string {
    const data = {
      type: wrong.type ?? type,
      challenge: wrong.challenge ?? challenge,
      origin: wrong.origin ?? this.origin,
      crossOrigin: wrong.crossOrigin ?? false,
    };
    return text(Buffer.from(JSON.stringify(data)));
  }
}
