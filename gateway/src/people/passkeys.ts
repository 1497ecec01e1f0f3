// Passkeys: registration, removal and sign-in. The device verifies its person and then signs, so a passkey counts as both factors.
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/server";
import { Fault, validationFault } from "../ground/fault.ts";
import { isId, newId, uuidBytes } from "../ground/ids.ts";
import { type PeopleParts, noteAccess } from "./access-audit.ts";
import { PasskeyChallenges } from "./passkey-challenges.ts";
import {
  type ChallengePurpose,
  PASSKEYS_MAX,
  type Passkey,
  deletePasskey,
  insertPasskey,
  passkeyOfRow,
  selectPasskey,
  selectPasskeys,
  usePasskey,
} from "./passkeys.sql.ts";
import { lockedInSession } from "./locked-person.ts";
import { type Person, personOfRow, selectPerson } from "./people.sql.ts";
import type { RelyingParty } from "./relying-party.ts";
import type { SecondFactors } from "./second-factors.ts";
import { replaceRecoveryCodes } from "./second-factors.sql.ts";
import type { Session } from "./sessions.sql.ts";
import type { Origin, Sessions, Stands } from "./sessions.ts";
import { challengeOf, isPlainAttestation } from "./webauthn-input.ts";

/** COSE numbers of ES256, EdDSA and RS256, the signature algorithms of devices. */
const ALGORITHMS = [-7, -8, -257];
const TIMEOUT_MS = 300_000;

/** Loads the library at the first use: a process that serves no persons does without it. */
const webauthn = () => import("@simplewebauthn/server");

export class Passkeys {
  private readonly parts: PeopleParts;
  private readonly sessions: Sessions;
  private readonly factors: SecondFactors;
  private readonly challenges: PasskeyChallenges;

  constructor(parts: PeopleParts, sessions: Sessions, factors: SecondFactors) {
    this.parts = parts;
    this.sessions = sessions;
    this.factors = factors;
    this.challenges = new PasskeyChallenges(parts);
  }

  /** Passkeys of a person, the oldest first. */
  async list(personId: string): Promise<Passkey[]> {
    return (await this.parts.database.query(selectPasskeys(personId))).map(passkeyOfRow);
  }

  /** Options for a browser to make a passkey. Throws VALIDATION_ERROR at PASSKEYS_MAX passkeys, SERVICE_UNAVAILABLE without a relying party. */
  async registrationOptions(person: Person): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const { id } = this.party();
    const there = await this.list(person.personId);
    refuseMore(there.length);
    const { generateRegistrationOptions } = await webauthn();
    return generateRegistrationOptions({
      rpName: this.parts.serviceName,
      rpID: id,
      userID: new Uint8Array(uuidBytes(person.personId)),
      userName: person.email,
      userDisplayName: person.name,
      challenge: new Uint8Array(await this.challenges.open("registration", { personId: person.personId })),
      timeout: TIMEOUT_MS,
      attestationType: "none",
      excludeCredentials: there.map(descriptorOf),
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      supportedAlgorithmIDs: ALGORITHMS,
    });
  }

  /**
   * Adds a passkey, in this session, whose proof the caller has found fresh. Throws UNAUTHORIZED when the session has ended meanwhile, and VALIDATION_ERROR: field `response` when the response answers no
   * open challenge of this person, is for another relying party or registers a known passkey; field `name` at PASSKEYS_MAX passkeys.
   */
  async register(
    person: Person,
    { name, response }: { name: string; response: RegistrationResponseJSON },
    sessionId: string,
    origin: Origin,
  ): Promise<Passkey> {
    const { personId } = person;
    const made = await this.madeBy(response, personId);
    if (!made) throw validationFault("response", undefined, "This device's answer does not fit. Begin again.");
    const now = this.parts.clock.now();
    const passkey = { ...made, name, personId, passkeyId: newId("passkey", now), createdAt: now };
    await this.parts.database.transaction(async (query) => {
      refuseMore((await lockedInSession(query, personId, sessionId)).passkeys);
      const inserted = await query(insertPasskey(passkey));
      if (inserted.length === 0) throw validationFault("response", undefined, "This passkey is known already.");
    });
    await noteAccess(this.parts, { action: "passkey_added", personId, address: origin.address, details: { name } });
    return { ...passkey, usedAt: undefined };
  }

  /** The verified new passkey; undefined when its challenge is not open for this person, or the response does not verify at this relying party. */
  private async madeBy(response: RegistrationResponseJSON, personId: string) {
    const party = this.party();
    const challenge = challengeOf(response.response.clientDataJSON);
    if (challenge === undefined || !(await this.challenges.take(challenge, "registration", personId))) return undefined;
    const { verifyRegistrationResponse } = await webauthn();
    if (!(await isPlainAttestation(response.response.attestationObject))) return undefined;
    const verified = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: [...party.origins],
      expectedRPID: party.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    }).catch(mismatched);
    if (!verified?.registrationInfo) return undefined;
    const { credential, credentialBackedUp: backedUp } = verified.registrationInfo;
    return {
      credentialId: Buffer.from(credential.id, "base64url"),
      publicKey: Buffer.from(credential.publicKey),
      counter: credential.counter,
      transports: (response.response.transports ?? []).slice(0, 10),
      backedUp,
    };
  }

  /**
   * Removes a passkey, in this session, whose proof the caller has found fresh, and the recovery codes when no second factor is left. False when the
   * person has no such passkey. Throws VALIDATION_ERROR when a person without a password, or an owner or operator in production, would lose the last
   * factor, and UNAUTHORIZED when the session has ended meanwhile.
   */
  async remove(personId: string, passkeyId: string, sessionId: string, origin: Origin): Promise<boolean> {
    if (!isId("passkey", passkeyId)) return false;
    const removed = await this.parts.database.transaction(async (query) => {
      const person = await lockedInSession(query, personId, sessionId);
      if ((await query(deletePasskey(personId, passkeyId))).length === 0) return false;
      if (person.passkeys > 1) return true;
      if (person.passwordHash === undefined)
        throw validationFault("passkey_id", undefined, "You sign in by this alone. Choose a password first.");
      if (!person.hasAuthenticator) {
        await this.factors.refuseLast(query, person, "passkey_id");
        await query(replaceRecoveryCodes(personId, []));
      }
      return true;
    });
    if (removed) await noteAccess(this.parts, { action: "passkey_removed", personId, address: origin.address });
    return removed;
  }

  /** Options for a browser to sign in by any passkey that it has for this relying party. */
  async signInOptions({ address }: Origin): Promise<PublicKeyCredentialRequestOptionsJSON> {
    return this.requestOptions(await this.challenges.open("sign_in", { address }));
  }

  /** Signs in the person whom the passkey belongs to. Gives the session's token. Throws UNAUTHORIZED for every kind of mismatch. */
  async signIn(response: AuthenticationResponseJSON, origin: Origin): Promise<string> {
    const personId = await this.signedBy(response, "sign_in", undefined, origin);
    const token = await this.sessions.begin(personId, origin, isStillThere(response));
    const details = { by: "passkey" };
    await noteAccess(this.parts, { action: "signed_in", personId, address: origin.address, details });
    return token;
  }

  /** Options for a browser to prove a signed-in person's identity again. Throws VALIDATION_ERROR when the person has no passkey. */
  async proofOptions(personId: string): Promise<PublicKeyCredentialRequestOptionsJSON> {
    const there = await this.list(personId);
    if (there.length === 0) throw validationFault("passkey", undefined, "You have no passkey.");
    return this.requestOptions(await this.challenges.open("proof", { personId }), there);
  }

  /** Verifies a signature of a signed-in person's passkey. Gives a new token of `session`, which replaces the old token. Throws UNAUTHORIZED. */
  async prove(
    personId: string,
    response: AuthenticationResponseJSON,
    session: Pick<Session, "sessionId" | "provedAt">,
    origin: Origin,
  ): Promise<string> {
    await this.signedBy(response, "proof", personId, origin);
    return this.sessions.renew({ ...session, personId }, origin, isStillThere(response));
  }

  private async requestOptions(challenge: Buffer, allowed: readonly Passkey[] = []) {
    const { generateAuthenticationOptions } = await webauthn();
    return generateAuthenticationOptions({
      rpID: this.party().id,
      challenge: new Uint8Array(challenge),
      timeout: TIMEOUT_MS,
      userVerification: "required",
      ...(allowed.length > 0 ? { allowCredentials: allowed.map(descriptorOf) } : {}),
    });
  }

  /** Verifies a signature, and gives the passkey's person. With `personId` it must be that person; without, the device names the person. */
  private async signedBy(
    response: AuthenticationResponseJSON,
    purpose: ChallengePurpose,
    personId: string | undefined,
    origin: Origin,
  ): Promise<string> {
    const party = this.party();
    const challenge = challengeOf(response.response.clientDataJSON);
    if (challenge === undefined || !(await this.challenges.take(challenge, purpose, personId))) throw refused();
    const passkey = await this.parts.database.first(selectPasskey(Buffer.from(response.id, "base64url")), passkeyOfRow);
    if (!passkey || (personId !== undefined && passkey.personId !== personId)) throw refused();
    const { verifyAuthenticationResponse } = await webauthn();
    const verified = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: [...party.origins],
      expectedRPID: party.id,
      requireUserVerification: true,
      // The statement `usePasskey` below checks the counter as it writes it: of two signatures with one counter only one is accepted.
      credential: { id: response.id, publicKey: new Uint8Array(passkey.publicKey), counter: 0 },
    }).catch(mismatched);
    const refuse = async (action: string): Promise<never> => {
      await noteAccess(this.parts, { action, personId: passkey.personId, address: origin.address });
      throw refused();
    };
    if (verified?.verified !== true || !namesPerson(response, passkey, personId === undefined))
      return refuse("passkey_failed");
    const [found] = await this.parts.database.query(selectPerson(passkey.personId));
    if (!found || personOfRow(found).closed) return refuse("passkey_failed");
    const { newCounter: counter, credentialBackedUp: backedUp } = verified.authenticationInfo;
    const statement = usePasskey(passkey.credentialId, { counter, backedUp, now: this.parts.clock.now() });
    const used = await this.parts.database.query(statement);
    // The counter did not grow: the device's key has a copy in use, or the passkey was removed a moment ago.
    if (used.length === 0) return refuse("passkey_counter_back");
    return passkey.personId;
  }

  private party(): RelyingParty {
    const party = this.parts.relyingParty();
    if (party) return party;
    throw new Fault("SERVICE_UNAVAILABLE", {
      message: "Passkeys need a domain and https: this service is reached without.",
    });
  }
}

/** True when the device's user handle names the passkey's person. A device may leave it out unless `mustBeNamed`. */
function namesPerson({ response }: AuthenticationResponseJSON, { personId }: Passkey, mustBeNamed: boolean): boolean {
  if (response.userHandle === undefined || response.userHandle === "") return !mustBeNamed;
  return Buffer.from(response.userHandle, "base64url").equals(uuidBytes(personId));
}

function descriptorOf({ credentialId, transports }: Passkey) {
  return { id: credentialId.toString("base64url"), transports };
}

function refuseMore(there: number): void {
  if (there >= PASSKEYS_MAX)
    throw validationFault("name", undefined, `A person has at most ${PASSKEYS_MAX} passkeys. Remove one first.`);
}

/** Whether the passkey of a response is still there: it may have been removed meanwhile. */
const isStillThere =
  ({ id }: AuthenticationResponseJSON): Stands =>
  async (_, query) =>
    (await query(selectPasskey(Buffer.from(id, "base64url")))).length > 0;

/** The library throws for every mismatch: all of them are answered alike. */
const mismatched = (): undefined => undefined;

function refused(): Fault {
  return new Fault("UNAUTHORIZED", { message: "This passkey was not accepted. Try again, or sign in another way." });
}
