// The command `gerbang people`: lets in the first owner of a merchant, and people who have lost all their credentials.
import { join } from "node:path";
import { type Config, ConfigError, readConfig } from "../ground/config.ts";
import { systemClock, wireTime } from "../ground/clock.ts";
import { Vault } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import { DEMO_OPERATOR, DEMO_OWNER, People } from "../people/people.ts";
import { invitationPage, relyingPartyOf, signInLinkPage } from "../people/relying-party.ts";
import type { OperatorRole } from "../people/operator-roles.ts";
import type { MemberRole } from "../people/roles.ts";
import type { Surface } from "../people/sessions.sql.ts";
import type { LinkPurpose } from "../people/sign-in-links.sql.ts";
import type { Database } from "../store/database.ts";
import { COMMAND_LINE } from "../operator/known-tokens.ts";
import { operatorView } from "../operator/operators.routes.ts";
import { type DemoFile, readDemo } from "./demo-merchant.ts";
import { demandMerchant } from "./known-merchant.ts";
import { recorded } from "./recorded.ts";
import { readSecrets } from "./secrets.ts";
import { printJson, say } from "./say.ts";
import { withDatabase } from "./store-of-config.ts";

interface Opened {
  people: People;
  database: Database;
  /** Address of the service, without the /v1. */
  root: string;
}

interface LinkOptions {
  email?: string | undefined;
  /** True for the operators' console, false for the merchants' portal. */
  console: boolean;
}

interface Invited {
  merchant: string;
  role: MemberRole;
  email: string | undefined;
}

/** The commands below return the exit code: 0 done, 1 there is no such person or merchant. */
export const inviteCommand = ({ merchant, role, email }: Invited): Promise<number> =>
  withPeople(async ({ people, database, root }) => {
    await demandMerchant(database, merchant);
    const call = { command: "people invite", body: { role, email }, merchantId: merchant };
    const invite = () => people.invitations.invite(merchant, { role, email }, undefined);
    const { token, invitation } = await recorded(database, call, invite);
    say(`Good once, until ${wireTime(invitation.expiresAt)}:`);
    process.stdout.write(`${invitationPage(root)}#${token}\n`);
    return 0;
  });

export const listCommand = ({ merchant }: { merchant: string }): Promise<number> =>
  withPeople(async ({ people, database }) => {
    await demandMerchant(database, merchant);
    for (const { personId, email, name, role, hasSecondFactor, since } of await people.members(merchant))
      printJson({ person_id: personId, email, name, role, has_second_factor: hasSecondFactor, since: wireTime(since) });
    return 0;
  });

export const inviteOperatorCommand = ({ role, email }: Pick<Invited, "email"> & { role: OperatorRole }) =>
  withPeople(async ({ people, database, root }) => {
    const call = { command: "people invite-operator", body: { role, email } };
    const invite = () => people.operators.invite({ role, email }, COMMAND_LINE.name);
    const { token, invitation } = await recorded(database, call, invite);
    say(`Good once, until ${wireTime(invitation.expiresAt)}:`);
    process.stdout.write(`${invitationPage(root, "console")}#${token}\n`);
    return 0;
  }, "console");

export const listOperatorsCommand = (): Promise<number> =>
  withPeople(async ({ people }) => {
    for (const operator of await people.operators.list()) printJson(operatorView(operator));
    return 0;
  });

export const removeOperatorCommand = ({ email }: { email: string }): Promise<number> =>
  withPeople(async ({ people, database }) => {
    await recorded(database, { command: "people remove-operator", body: { email } }, async () => {
      const person = await people.readByEmail(email);
      if (!person || !(await people.operators.remove(person.personId))) throw nobody("no operator");
    });
    return 0;
  });

export const signInLinkCommand = ({ email, console: isConsole }: LinkOptions): Promise<number> =>
  makeLink(email ?? (isConsole ? DEMO_OPERATOR : DEMO_OWNER).email, "sign_in", isConsole);

export const resetLinkCommand = ({ email, console: isConsole }: LinkOptions & { email: string }): Promise<number> =>
  makeLink(email, "reset", isConsole);

function makeLink(email: string, purpose: LinkPurpose, isConsole: boolean): Promise<number> {
  const surface = isConsole ? "console" : "portal";
  const command = purpose === "reset" ? "people reset-link" : "people sign-in-link";
  return withPeople(async ({ people, database, root }) => {
    const { name, token, expiresAt } = await recorded(database, { command, body: { email, surface } }, async () => {
      const person = await people.readByEmail(email);
      if (!person) throw nobody("nobody");
      return { name: person.name, ...(await people.links.make(person.personId, purpose)) };
    });
    say(`Good once, until ${wireTime(expiresAt)}. Give it to ${name} and to nobody else:`);
    process.stdout.write(`${signInLinkPage(root, token, surface)}\n`);
    return 0;
  }, surface);
}

const nobody = (who: "nobody" | "no operator"): Fault =>
  new Fault("OBJECT_NOT_FOUND", { message: `There is ${who} by this e-mail address.` });

function withPeople(work: (opened: Opened) => Promise<number>, surface: Surface = "portal"): Promise<number> {
  const config = readConfig();
  return withDatabase(config, (database) => {
    const root = surface === "portal" ? rootOf(config) : consoleRootOf(config);
    const { masterKey, secondMasterKey } = readSecrets(config, "existing");
    const people = new People({
      database,
      vault: new Vault(masterKey, secondMasterKey),
      clock: systemClock,
      serviceName: config.serviceName,
      production: config.mode === "production",
      surface,
      relyingParty: () => relyingPartyOf(root),
    });
    return work({ people, database, root });
  });
}

/** Addresses of the last start with the embedded database: its environment, and with it the ports, may have been another one. */
const lastStart = ({ databaseUrl, dataDirectory }: Config): DemoFile | undefined =>
  databaseUrl === undefined ? readDemo(join(dataDirectory, "demo.json")) : undefined;

const rootOf = (config: Config): string =>
  (config.baseUrl ?? lastStart(config)?.base_url)?.slice(0, -"/v1".length) ?? `http://localhost:${config.port}`;

/** Address of the console. Throws ConfigError in production when it is not configured. */
function consoleRootOf(config: Config): string {
  if (config.consoleUrl === undefined && config.mode === "production")
    throw new ConfigError("CONSOLE_URL: is required for people to sign in to the console when NODE_ENV=production");
  return config.consoleUrl ?? new URL(lastStart(config)?.ops_url ?? `http://localhost:${config.operator.port}`).origin;
}
