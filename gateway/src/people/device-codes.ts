// Sign-in from a command line (RFC 8628): a program shows a short code, a person approves it in the portal, and the program gets a key, once.
import { randomBytes, randomInt } from "node:crypto";
import { addressGroup } from "../ground/address-group.ts";
import { type Clock, SECOND } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import { newId } from "../ground/ids.ts";
import type { Environment } from "../merchants/books.ts";
import { type Credentials, LIVE_MAX, type NewCredential } from "../merchants/credentials.ts";
import type { Database, Query } from "../store/database.ts";
import { noteAccess } from "./access-audit.ts";
import { insertPeopleAudit } from "./audit.sql.ts";
import {
  type DeviceAnswer,
  type DeviceRequest,
  type Granted,
  type PolledDevice,
  answerDevice,
  deviceRequestOfRow,
  insertDeviceCode,
  pollDevice,
  polledDeviceOfRow,
  selectDeviceRequest,
  useGrant,
} from "./device-codes.sql.ts";
import { type MemberRole, actionsOf, scopesBeyond } from "./roles.ts";
import { type Origin, kept } from "./sessions.ts";
import { SignInThrottle, WrongGuess, ofSignedIn } from "./sign-in-throttle.ts";

export const DEVICE_CODE_LASTS_SECONDS = 600;
export const INTERVAL_SECONDS = 5;
/** No vowels, so that no code is a word, and no letters that look like others (RFC 8628, section 6.1). Eight letters are 34 bits. */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const USER_CODE_LENGTH = 8;

interface BegunDevice extends DeviceRequest {
  /** The program's secret for polling. Only its digest is stored. */
  deviceCode: string;
}

/** Answer to a program's poll, with the words of RFC 8628, section 3.5. */
export type Polled =
  | { status: "authorization_pending" | "slow_down"; intervalSeconds: number }
  | { status: "access_denied" | "expired_token" }
  | ({ status: "granted"; name: string } & NewCredential & Granted);

interface DeviceCodeParts {
  database: Database;
  clock: Clock;
  credentials: Pick<Credentials, "create" | "refuseFull">;
}

export class DeviceCodes {
  private readonly parts: DeviceCodeParts;
  private readonly throttle: SignInThrottle;

  constructor(parts: DeviceCodeParts) {
    this.parts = parts;
    this.throttle = new SignInThrottle(parts.database, parts.clock, TOO_MANY_GUESSES);
  }

  /** Opens a request of a program for a key of this name. Throws RATE_LIMITED when too many requests wait for an answer. */
  async begin(asked: { name: string; environment: Environment }, origin: Origin): Promise<BegunDevice> {
    const now = this.parts.clock.now();
    const deviceCode = randomBytes(32).toString("base64url");
    const request: DeviceRequest = {
      ...asked,
      userCode: newUserCode(),
      ...kept(origin),
      createdAt: now,
      expiresAt: now + DEVICE_CODE_LASTS_SECONDS * SECOND,
    };
    const statement = insertDeviceCode({
      ...request,
      deviceDigest: sha256(deviceCode),
      addressGroup: addressGroup(origin.address),
      intervalSeconds: INTERVAL_SECONDS,
    });
    const made = await this.parts.database.query(statement);
    if (made.length > 0) return { ...request, deviceCode };
    throw new Fault("RATE_LIMITED", {
      retryAfterSeconds: 60,
      message: "Too many sign-ins from here wait for an answer. Answer one in the portal, or wait until they are over.",
    });
  }

  /**
   * The open request of a short code, for the person who typed the code. Throws OBJECT_NOT_FOUND for a code that is unknown, expired or answered;
   * RATE_LIMITED after several such codes of one person or address.
   */
  async find(personId: string, sent: string, origin: Origin): Promise<DeviceRequest> {
    const userCode = userCodeOf(sent);
    // The throttle: a person who guesses codes could sign in programs of other persons under their own account.
    return this.throttle.guard(ofSignedIn(`device codes of ${personId}`, origin.address), async () => {
      const [row] =
        userCode === undefined
          ? []
          : await this.parts.database.query(selectDeviceRequest(userCode, this.parts.clock.now()));
      if (!row) throw new WrongGuess("OBJECT_NOT_FOUND", { message: NO_CODE });
      return deviceRequestOfRow(row);
    });
  }

  /** Grants the program a key that the person may make, or denies it. Throws as `find`, and VALIDATION_ERROR when the book has LIVE_MAX keys. */
  async answer(sent: string, answer: DeviceAnswer & { sessionId: string }, origin: Origin): Promise<void> {
    const { userCode } = await this.find(answer.personId, sent, origin);
    if (answer.granted) await this.parts.credentials.refuseFull(answer.granted, LIVE_MAX);
    if ((await this.parts.database.query(answerDevice(userCode, answer, this.parts.clock.now()))).length === 0)
      throw new Fault("OBJECT_NOT_FOUND", { message: NO_CODE });
  }

  /**
   * The state of a program's request. The first poll after the person's consent makes the key, and is the only one that gets it. Throws
   * VALIDATION_ERROR when the book has LIVE_MAX keys: the program may poll again after a key was revoked.
   */
  async poll(deviceCode: string, origin: Origin): Promise<Polled> {
    const deviceDigest = sha256(deviceCode);
    const { database, clock } = this.parts;
    const device = await database.first(pollDevice(deviceDigest, clock.now()), polledDeviceOfRow);
    if (!device) return { status: "expired_token" };
    const { answer, intervalSeconds, tooSoon } = device;
    if (tooSoon) return { status: "slow_down", intervalSeconds };
    if (!answer) return { status: "authorization_pending", intervalSeconds };
    if (!answer.granted) return { status: "access_denied" };
    return this.grant(deviceDigest, device, answer.granted, origin);
  }

  /** Makes the key in the transaction that consumes the grant: of two polls at once, only one gets a key. */
  private async grant(
    deviceDigest: Buffer,
    { name, answer }: PolledDevice,
    granted: Granted,
    { address }: Origin,
  ): Promise<Polled> {
    const { merchantId, environment, scopes } = granted;
    const audited = { personId: answer?.personId, merchantId, address };
    try {
      const made = await this.parts.credentials.create(granted, { name, scopes }, LIVE_MAX, async (query, key) => {
        await this.use(query, deviceDigest, granted);
        const now = this.parts.clock.now();
        const details = { client_id: key.clientId, environment, name, scopes };
        const entry = { ...audited, action: "device_key_made", details };
        await query(insertPeopleAudit([{ ...entry, auditId: newId("request", now), at: now }]));
      });
      if (made) return { status: "granted", ...made, ...granted, name };
    } catch (error) {
      if (!(error instanceof NotAllowedAnyMore)) throw error;
    }
    await noteAccess(this.parts, { ...audited, action: "device_key_refused", details: { environment, name } });
    return { status: "access_denied" };
  }

  /** Consumes a grant. Throws `NotAllowedAnyMore` when it was consumed before, its session has ended, or its person may not make such a key any more. */
  private async use(query: Query, deviceDigest: Buffer, { environment, scopes }: Granted): Promise<void> {
    const [row] = await query(useGrant(deviceDigest, this.parts.clock.now()));
    const role = row?.role as MemberRole | undefined;
    const may = role && actionsOf(role, environment).has("credentials:write");
    if (!may || scopesBeyond(role, environment, scopes).length > 0) throw new NotAllowedAnyMore();
  }
}

/** Thrown to roll back the transaction that makes a key. */
class NotAllowedAnyMore extends Error {
  override name = "NotAllowedAnyMore";
}

const NO_CODE =
  "This code does not exist, is over, or was answered already. Look at the terminal, or ask there for another one.";

const TOO_MANY_GUESSES =
  "Too many codes were wrong. Wait for the seconds in Retry-After, then look at the terminal again.";

function newUserCode(): string {
  return Array.from({ length: USER_CODE_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join("");
}

/** The short code in its stored form, from what a person typed; undefined when the text cannot be a code. */
function userCodeOf(sent: string): string | undefined {
  const code = sent.toUpperCase().replaceAll(/[\s-]/g, "");
  return code.length === USER_CODE_LENGTH && [...code].every((letter) => LETTERS.includes(letter)) ? code : undefined;
}

/** A short code as shown to persons: with a dash in the middle. */
export const shownUserCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;
