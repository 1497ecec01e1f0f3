// The command `gerbang people`: lets the first owner of a merchant in, and somebody back in who has lost everything.
import { parseArgs } from "node:util";
import { type Config, readConfig } from "../ground/config.ts";
import { systemClock, wireTime } from "../ground/clock.ts";
import { Vault } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { createLog } from "../ground/log.ts";
import { DEMO_OWNER, People } from "../people/people.ts";
import { invitationPage, relyingPartyOf, signInLinkPage } from "../people/relying-party.ts";
import { memberRoles } from "../people/roles.ts";
import type { LinkPurpose } from "../people/sign-in-links.sql.ts";
import { Database } from "../store/database.ts";
import { readSecrets } from "./secrets.ts";
import { openStore, say } from "./store-of-config.ts";

const USAGE = `Usage:
  gerbang people invite --merchant mer_… --role ${memberRoles.join("|")} [--email sari@toko.example]
      prints a link that lets somebody into a merchant, once, within seven days
  gerbang people sign-in-link [--email sari@toko.example]
      prints a link that signs somebody in, once, within fifteen minutes: the demo owner when nobody is named; not in production
  gerbang people reset-link --email sari@toko.example
      prints a link that takes away somebody's password, authenticator, recovery codes and passkeys, and signs them in
      to choose anew; once, within fifteen minutes
  gerbang people list --merchant mer_…
      prints who belongs to a merchant, one line of JSON each`;

const options = {
  merchant: { type: "string" },
  role: { type: "string" },
  email: { type: "string" },
} as const;

interface Given {
  merchant?: string | undefined;
  role?: string | undefined;
  email?: string | undefined;
}

type Work = (people: People, root: string) => Promise<number>;

/** Gives the exit code: 0 done, 1 there is no such person or merchant, 2 the command was misunderstood. */
export async function peopleCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
  const work = positionals.length === 1 ? workOf(positionals[0] ?? "", values) : undefined;
  if (!work) {
    say(USAGE);
    return 2;
  }
  return withPeople(work);
}

function workOf(name: string, { merchant, role, email }: Given): Work | undefined {
  const known = merchant !== undefined && isId("merchant", merchant) ? merchant : undefined;
  const knownRole = memberRoles.find((one) => one === role);
  if (name === "list" && known !== undefined) return (people) => list(people, known);
  if (name === "sign-in-link") return (people, root) => link(people, root, email ?? DEMO_OWNER.email, "sign_in");
  if (name === "reset-link" && email !== undefined) return (people, root) => link(people, root, email, "reset");
  if (name === "invite" && known !== undefined && knownRole)
    return async (people, root) => {
      const { token, invitation } = await people.invite(known, { role: knownRole, email }, undefined);
      say(`Good once, until ${wireTime(invitation.expiresAt)}:`);
      process.stdout.write(`${invitationPage(root)}#${token}\n`);
      return 0;
    };
  return undefined;
}

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
  const { masterKey, secondMasterKey } = readSecrets(config);
  const store = await openStore(config, false);
  const database = new Database(store.url, 2, createLog(config.logLevel));
  const root = rootOf(config);
  const people = new People({
    database,
    vault: new Vault(masterKey, secondMasterKey),
    clock: systemClock,
    serviceName: config.serviceName,
    production: config.mode === "production",
    relyingParty: () => relyingPartyOf(root),
  });
  try {
    return await work(people, root);
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
