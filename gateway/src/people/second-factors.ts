// Second factors beside passkeys: the authenticator's codes, and recovery codes for who has lost it.
import { randomBytes } from "node:crypto";
import { digestOf } from "../ground/crypto.ts";
import { type Fault, validationFault } from "../ground/fault.ts";
import { encode } from "../ground/ids.ts";
import { type PeopleParts, noteAccess } from "./access-audit.ts";
import { type Person, lockPerson, personOfRow, selectMemberships, selectPerson } from "./people.sql.ts";
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
import type { Database } from "../store/database.ts";
import { TOTP_SECRET_BYTES, base32, enrolmentUri, stepOfCode } from "./totp.ts";

const RECOVERY_CODES = 10;

type Query = Parameters<Parameters<Database["transaction"]>[0]>[0];

/** What a password alone is not enough for; undefined where it is. */
export function secondFactorOf({ hasAuthenticator, passkeys }: Person): "code" | "passkey" | undefined {
  if (hasAuthenticator) return "code";
  return passkeys > 0 ? "passkey" : undefined;
}

export class SecondFactors {
  private readonly parts: PeopleParts;

  constructor(parts: PeopleParts) {
    this.parts = parts;
  }

  /** True when this is a code of the person's authenticator, or a recovery code of theirs. It is used up then. */
  async useCode(personId: string, code: string): Promise<boolean> {
    return this.parts.database.transaction(async (query) => {
      const person = await lockedPerson(query, personId);
      if (!person || secondFactorOf(person) === undefined) return false;
      // One that is not confirmed proves nothing: whoever began with it need not be the person.
      if (person.hasAuthenticator && (await this.useTotp(query, person, code))) return true;
      const used = await query(useRecoveryCode(personId, recoveryDigest(personId, code), this.parts.clock.now()));
      return used.length > 0;
    });
  }

  /** Confirms an authenticator that was begun with, by a code of it. False when it shows another one. */
  async confirm(personId: string, code: string): Promise<boolean> {
    return this.parts.database.transaction(async (query) => {
      const person = await lockedPerson(query, personId);
      return person !== undefined && !person.hasAuthenticator && this.useTotp(query, person, code);
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

  /** Begins with an authenticator: it counts after a code of it was shown. Throws VALIDATION_ERROR when there is one already. */
  async begin(person: Person): Promise<{ secret: string; uri: string }> {
    if (person.hasAuthenticator) throw alreadyThere();
    const secret = randomBytes(TOTP_SECRET_BYTES);
    const sealed = this.parts.vault.seal(secret.toString("base64"), totpOwner(person.personId));
    await this.parts.database.query(updateTotp(person.personId, sealed));
    return { secret: base32(secret), uri: enrolmentUri(this.parts.serviceName, person.email, secret) };
  }

  /** Removes the authenticator, and its recovery codes where no other factor is left. Throws VALIDATION_ERROR where it must stay. */
  async remove(personId: string, origin: Origin): Promise<void> {
    await this.parts.database.transaction(async (query) => {
      const person = await lockedPerson(query, personId);
      if (!person) return;
      if (person.hasAuthenticator && person.passkeys === 0) await this.refuseLast(query, person, "authenticator");
      await query(removeTotp(personId));
      if (person.passkeys === 0) await query(replaceRecoveryCodes(personId, []));
    });
    await noteAccess(this.parts, { action: "authenticator_removed", personId, address: origin.address });
  }

  /** Throws VALIDATION_ERROR for who must have a second factor: an owner or an operator, in production. Called for their last one, under a lock of them. */
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

  /** New recovery codes in the place of all there were. They are shown this once. Throws VALIDATION_ERROR where there is no second factor. */
  async newRecoveryCodes(personId: string): Promise<string[]> {
    const codes = Array.from({ length: RECOVERY_CODES }, () => {
      const text = encode(randomBytes(16));
      return `${text.slice(2, 7)}-${text.slice(7, 12)}-${text.slice(12, 17)}`;
    });
    const digests = codes.map((code) => recoveryDigest(personId, code));
    await this.parts.database.transaction(async (query) => {
      const person = await lockedPerson(query, personId);
      if (!person || secondFactorOf(person) === undefined)
        throw validationFault("authenticator", undefined, "Add an authenticator or a passkey first.");
      await query(replaceRecoveryCodes(personId, digests));
    });
    return codes;
  }

  async recoveryCodesLeft(personId: string): Promise<number> {
    const [row] = await this.parts.database.query<{ left: number }>(countRecoveryCodes(personId));
    return row?.left ?? 0;
  }
}

/** A person, locked until the transaction ends. */
export async function lockedPerson(query: Query, personId: string): Promise<Person | undefined> {
  await query(lockPerson(personId));
  const [row] = await query(selectPerson(personId));
  return row && personOfRow(row);
}

/** What a person's authenticator is sealed for. */
export function totpOwner(personId: string): string {
  return `totp/${personId}`;
}

/** Recovery codes are typed by hand: case and dashes do not matter. */
function recoveryDigest(personId: string, code: string): Buffer {
  return digestOf("recovery", personId, code.toLowerCase().replaceAll(/[^0-9a-z]/g, ""));
}

export function alreadyThere(): Fault {
  return validationFault("authenticator", undefined, "There is an authenticator already. Remove it first.");
}
