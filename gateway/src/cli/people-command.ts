// The command `gerbang people`: lets the first owner of a merchant in, and somebody back in who has lost everything.
import { type Config, readConfig } from "../ground/config.ts";
import { systemClock, wireTime } from "../ground/clock.ts";
import { Vault } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import { createLog } from "../ground/log.ts";
import { DEMO_OWNER, People } from "../people/people.ts";
import { invitationPage, relyingPartyOf, signInLinkPage } from "../people/relying-party.ts";
import type { MemberRole } from "../people/roles.ts";
import type { LinkPurpose } from "../people/sign-in-links.sql.ts";
import { Database } from "../store/database.ts";
import { demandMerchant } from "./known-merchant.ts";
import { readSecrets } from "./secrets.ts";
import { say } from "./say.ts";
import { openExistingStore } from "./store-of-config.ts";

interface Opened {
  people: People;
  database: Database;
  /** Where the service is reached, without the /v1. */
  root: string;
}
type Work = (opened: Opened) => Promise<number>;

interface Invited {
  merchant: string;
  role: MemberRole;
  email: string | undefined;
}

/** These give the exit code: 0 done, 1 there is no such person or merchant. */
export const inviteCommand = ({ merchant, role, email }: Invited): Promise<number> =>
  withPeople(async ({ people, database, root }) => {
    await demandMerchant(database, merchant);
    const { token, invitation } = await people.invite(merchant, { role, email }, undefined);
    say(`Good once, until ${wireTime(invitation.expiresAt)}:`);
    process.stdout.write(`${invitationPage(root)}#${token}\n`);
    return 0;
  });

export const listCommand = ({ merchant }: { merchant: string }): Promise<number> =>
  withPeople(async ({ people, database }) => {
    await demandMerchant(database, merchant);
    return list(people, merchant);
  });

export const signInLinkCommand = ({ email = DEMO_OWNER.email }: { email: string | undefined }): Promise<number> =>
  withPeople(({ people, root }) => link(people, root, email, "sign_in"));

export const resetLinkCommand = ({ email }: { email: string }): Promise<number> =>
  withPeople(({ people, root }) => link(people, root, email, "reset"));

async function list(people: People, merchantId: string): Promise<number> {
  for (const { personId, email, name, role, hasSecondFactor, since } of await people.members(merchantId)) {
    const line = { person_id: personId, email, name, role, has_second_factor: hasSecondFactor, since: wireTime(since) };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
  return 0;
}

async function link(people: People, root: string, email: string, purpose: LinkPurpose): Promise<number> {
  const person = await people.readByEmail(email);
  if (!person) {
    say("There is nobody by this e-mail address.");
    return 1;
  }
  const { token, expiresAt } = await people.makeLink(person.personId, purpose);
  say(`Good once, until ${wireTime(expiresAt)}. Give it to ${person.name} and to nobody else:`);
  process.stdout.write(`${signInLinkPage(root, token)}\n`);
  return 0;
}

async function withPeople(work: Work): Promise<number> {
  const config = readConfig();
  const store = await openExistingStore(config);
  const database = new Database(store.url, 2, createLog(config.logLevel));
  const root = rootOf(config);
  try {
    const { masterKey, secondMasterKey } = readSecrets(config, "existing");
    const people = new People({
      database,
      vault: new Vault(masterKey, secondMasterKey),
      clock: systemClock,
      serviceName: config.serviceName,
      production: config.mode === "production",
      relyingParty: () => relyingPartyOf(root),
    });
    return await work({ people, database, root });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    say(error.message);
    return 1;
  } finally {
    await database.end();
    await store.close();
  }
}

/** Where the service is reached, without the /v1. */
const rootOf = ({ baseUrl, port }: Config): string => baseUrl?.slice(0, -"/v1".length) ?? `http://localhost:${port}`;
