// Second factors other than passkeys: codes of an authenticator, and recovery codes for persons who have lost theirs.
import { randomBytes } from "node:crypto";
import { digestOf } from "../ground/crypto.ts";
import { type Fault, validationFault } from "../ground/fault.ts";
import { encode } from "../ground/ids.ts";
import { type PeopleParts, noteAccess } from "./access-audit.ts";
import type { Query } from "../store/database.ts";
import { lockedInSession, lockedPerson } from "./locked-person.ts";
import { type Person, selectMemberships } from "./people.sql.ts";
import { selectOperator } from "./operators.sql.ts";
import {
  countRecoveryCodes,
  removeTotp,
  replaceRecoveryCodes,
  updateTotp,
  useRecoveryCode,
  useTotpStep,
} from "./second-factors.sql.ts";
import type { Origin } from "./sessions.ts";
import { TOTP_SECRET_BYTES, base32, enrolmentUri, stepOfCode } from "./totp.ts";

const RECOVERY_CODES = 10;

/** The factor that a person needs beside the password; undefined when the password is enough. */
export function secondFactorOf({ hasAuthenticator, passkeys }: Person): "code" | "passkey" | undefined {
  if (hasAuthenticator) return "code";
  return passkeys > 0 ? "passkey" : undefined;
}

export class SecondFactors {
  private readonly parts: PeopleParts;

  constructor(parts: PeopleParts) {
    this.parts = parts;
  }

  /** Consumes a code. True when it is a code of the person's authenticator or an unused recovery code. */
  async useCode(personId: string, code: string): Promise<boolean> {
    return this.parts.database.transaction(async (query) => {
      const person = await lockedPerson(query, personId);
      if (!person || secondFactorOf(person) === undefined) return false;
      // An unconfirmed authenticator proves nothing: somebody else may have begun with it.
      if (person.hasAuthenticator && (await this.useTotp(query, person, code))) return true;
      const used = await query(useRecoveryCode(personId, recoveryDigest(personId, code), this.parts.clock.now()));
      return used.length > 0;
    });
  }

  /**
   * Confirms a new authenticator by one of its codes, in this session. Gives new recovery codes; undefined when the code is wrong, or there is no
   * authenticator to confirm. Throws UNAUTHORIZED when the session has ended.
   */
  async confirm(personId: string, code: string, sessionId: string): Promise<string[] | undefined> {
    return this.parts.database.transaction(async (query) => {
      const person = await lockedInSession(query, personId, sessionId);
      if (person.hasAuthenticator || !(await this.useTotp(query, person, code))) return undefined;
      return this.replaceCodes(query, personId);
    });
  }

  private async useTotp(query: Query, person: Person, code: string): Promise<boolean> {
    if (!person.totpSealed) return false;
    const now = this.parts.clock.now();
    const secret = Buffer.from(this.parts.vault.open(person.totpSealed, totpOwner(person.personId)), "base64");
    const step = stepOfCode(secret, code, now, person.totpUsedStep);
    if (step === undefined) return false;
    await query(useTotpStep(person.personId, step, now));
    return true;
  }

  /** Stores the secret of a new authenticator, which counts once `confirm` succeeds. Throws VALIDATION_ERROR when the person has one already. */
  async begin(person: Person): Promise<{ secret: string; uri: string }> {
    if (person.hasAuthenticator) throw alreadyThere();
    const secret = randomBytes(TOTP_SECRET_BYTES);
    const sealed = this.parts.vault.seal(secret.toString("base64"), totpOwner(person.personId));
    await this.parts.database.query(updateTotp(person.personId, sealed));
    return { secret: base32(secret), uri: enrolmentUri(this.parts.serviceName, person.email, secret) };
  }

  /** Removes the authenticator, and the recovery codes when no passkey is left. The session's proof is fresh. Throws as `refuseLast`, UNAUTHORIZED. */
  async remove(personId: string, sessionId: string, origin: Origin): Promise<void> {
    await this.parts.database.transaction(async (query) => {
      const person = await lockedInSession(query, personId, sessionId);
      if (person.hasAuthenticator && person.passkeys === 0) await this.refuseLast(query, person, "authenticator");
      await query(removeTotp(personId));
      if (person.passkeys === 0) await query(replaceRecoveryCodes(personId, []));
    });
    await noteAccess(this.parts, { action: "authenticator_removed", personId, address: origin.address });
  }

  /** Throws VALIDATION_ERROR for an owner or operator in production, who must keep a second factor. The caller removes the last one, and has locked the person. */
  async refuseLast(query: Query, person: Person, field: string): Promise<void> {
    if (!this.parts.production) return;
    const rows = await query(selectMemberships(person.personId));
    const isOperator = (await query(selectOperator(person.personId))).length > 0;
    if (!isOperator && !rows.some((row) => row.role === "owner")) return;
    throw validationFault(
      field,
      undefined,
      "An owner or operator keeps a second factor. Add another one before you remove this.",
    );
  }

  /** Replaces all recovery codes. The session's proof is fresh. Throws VALIDATION_ERROR without a second factor, UNAUTHORIZED once the session has ended. */
  async newRecoveryCodes(personId: string, sessionId: string, { address }: Origin): Promise<string[]> {
    const codes = await this.parts.database.transaction(async (query) => {
      if (secondFactorOf(await lockedInSession(query, personId, sessionId)) === undefined)
        throw validationFault("authenticator", undefined, "Add an authenticator or a passkey first.");
      return this.replaceCodes(query, personId);
    });
    await noteAccess(this.parts, { action: "recovery_codes_made", personId, address });
    return codes;
  }

  /** Replaces all recovery codes. Gives the new ones; only digests are stored. The caller has locked the person. */
  private async replaceCodes(query: Query, personId: string): Promise<string[]> {
    const codes = Array.from({ length: RECOVERY_CODES }, () => {
      const text = encode(randomBytes(16));
      return `${text.slice(2, 7)}-${text.slice(7, 12)}-${text.slice(12, 17)}`;
    });
    const digests = codes.map((code) => recoveryDigest(personId, code));
    await query(replaceRecoveryCodes(personId, digests));
    return codes;
  }

  async recoveryCodesLeft(personId: string): Promise<number> {
    const [row] = await this.parts.database.query<{ left: number }>(countRecoveryCodes(personId));
    return row?.left ?? 0;
  }
}

/** The owner that the vault seals a person's authenticator secret for. */
export function totpOwner(personId: string): string {
  return `totp/${personId}`;
}

/** Digest of a recovery code without regard to case and dashes, because persons type the codes by hand. */
function recoveryDigest(personId: string, code: string): Buffer {
  return digestOf("recovery", personId, code.toLowerCase().replaceAll(/[^0-9a-z]/g, ""));
}

export function alreadyThere(): Fault {
  return validationFault("authenticator", undefined, "There is an authenticator already. Remove it first.");
}
