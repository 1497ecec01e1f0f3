// Challenges that devices sign by a passkey: each is good once, within five minutes, for one purpose and one person.
import { createHmac, randomBytes, randomInt } from "node:crypto";
import { addressGroup } from "../ground/address-group.ts";
import { type Micros, SECOND } from "../ground/clock.ts";
import type { PeopleParts } from "./access-audit.ts";
import { CHALLENGE_SLOTS, type ChallengePurpose, putChallenge, takeChallenge } from "./passkeys.sql.ts";

const CHALLENGE_BYTES = 32;
const LASTS: Micros = 300 * SECOND;
/** Open challenges of one person or network. A further challenge replaces an earlier one. */
const SLOTS_OF_ONE = 64;

/** The party that a challenge is opened for: a person, or an unknown caller by address. */
type Asker = { personId: string } | { address: string };

export class PasskeyChallenges {
  private readonly parts: PeopleParts;
  private readonly key: Buffer;
  /** Place of the newest challenge within its group of slots. Each process starts at a random place. */
  private place = randomInt(SLOTS_OF_ONE);

  constructor(parts: PeopleParts) {
    this.parts = parts;
    this.key = parts.vault.derive("passkey challenges");
  }

  /** Opens a new challenge. An asker beyond SLOTS_OF_ONE open challenges loses its own earlier ones, not those of other askers. */
  async open(purpose: ChallengePurpose, asker: Asker): Promise<Buffer> {
    const challenge = randomBytes(CHALLENGE_BYTES);
    const personId = "personId" in asker ? asker.personId : undefined;
    const expiresAt = this.parts.clock.now() + LASTS;
    await this.parts.database.query(putChallenge(this.slotOf(asker), challenge, { purpose, personId, expiresAt }));
    return challenge;
  }

  /** Consumes a challenge, which is in base64url. True when it was open for this purpose and person. */
  async take(text: string, purpose: ChallengePurpose, personId: string | undefined): Promise<boolean> {
    const challenge = Buffer.from(text, "base64url");
    if (challenge.length !== CHALLENGE_BYTES) return false;
    const statement = takeChallenge(challenge, purpose, personId, this.parts.clock.now());
    return (await this.parts.database.query(statement)).length > 0;
  }

  /** One of the asker's slots. The slots depend on a secret key, so that nobody can aim at the slots of another asker. */
  private slotOf(asker: Asker): number {
    const name = "personId" in asker ? asker.personId : addressGroup(asker.address);
    const groups = CHALLENGE_SLOTS / SLOTS_OF_ONE;
    const group = createHmac("sha256", this.key).update(name).digest().readUInt32BE(0) % groups;
    // Places are taken in turn: random places would let challenges of the same moment replace each other.
    this.place = (this.place + 1) % SLOTS_OF_ONE;
    return group * SLOTS_OF_ONE + this.place;
  }
}
