// Challenges of passkeys: what a device has to sign, once, within five minutes, for one purpose and one person.
import { createHmac, randomBytes, randomInt } from "node:crypto";
import { isIPv6 } from "node:net";
import { type Micros, SECOND } from "../ground/clock.ts";
import type { PeopleParts } from "./access-audit.ts";
import { CHALLENGE_SLOTS, type ChallengePurpose, putChallenge, takeChallenge } from "./passkeys.sql.ts";

const CHALLENGE_BYTES = 32;
const LASTS: Micros = 300 * SECOND;
/** So many are open for one person, or from one address, before one takes the place of another. */
const SLOTS_OF_ONE = 64;

/** Who asks: a person, or somebody at an address. */
export type Asker = { personId: string } | { address: string };

export class PasskeyChallenges {
  private readonly parts: PeopleParts;
  private readonly key: Buffer;
  /** Of the newest challenge in its group. Processes begin at different ones. */
  private place = randomInt(SLOTS_OF_ONE);

  constructor(parts: PeopleParts) {
    this.parts = parts;
    this.key = parts.vault.derive("passkey challenges");
  }

  /** A new challenge. Whoever asks for very many loses their own earlier ones, and nobody else's. */
  async open(purpose: ChallengePurpose, asker: Asker): Promise<Buffer> {
    const challenge = randomBytes(CHALLENGE_BYTES);
    const personId = "personId" in asker ? asker.personId : undefined;
    const expiresAt = this.parts.clock.now() + LASTS;
    await this.parts.database.query(putChallenge(this.slotOf(asker), challenge, { purpose, personId, expiresAt }));
    return challenge;
  }

  /** True when this challenge was open for this purpose and person. It is used up then. */
  async take(challenge: Buffer, purpose: ChallengePurpose, personId: string | undefined): Promise<boolean> {
    if (challenge.length !== CHALLENGE_BYTES) return false;
    const statement = takeChallenge(challenge, purpose, personId, this.parts.clock.now());
    return (await this.parts.database.query(statement)).length > 0;
  }

  /** One of the slots of whoever asks. Which they are nobody can tell without the key: nobody takes those of a chosen other. */
  private slotOf(asker: Asker): number {
    const name = "personId" in asker ? asker.personId : networkOf(asker.address);
    const groups = CHALLENGE_SLOTS / SLOTS_OF_ONE;
    const group = createHmac("sha256", this.key).update(name).digest().readUInt32BE(0) % groups;
    // One after the other: those of one moment do not take each other's place, as they would by chance.
    this.place = (this.place + 1) % SLOTS_OF_ONE;
    return group * SLOTS_OF_ONE + this.place;
  }
}

/** What one customer of a network has: a whole /64 of IPv6. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = "", tail] = address.split("::");
  const given = head.split(":").filter(Boolean);
  const rest = tail === undefined ? [] : tail.split(":").filter(Boolean);
  const zeros =
    tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - given.length - rest.length) }, () => "0");
  return [...given, ...zeros, ...rest].slice(0, 4).join(":");
}
