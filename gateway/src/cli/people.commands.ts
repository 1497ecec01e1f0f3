// The rows of the table of commands that let people into the portal and the console.
import { operatorRoles } from "../people/operator-roles.ts";
import { memberRoles } from "../people/roles.ts";
import { type Command, type Form, defineCommand } from "./command.ts";
import { merchantForm } from "./merchant-option.ts";
import { ofDatabase } from "./variables.ts";

const email: Form = { pattern: /^[^\s@]{1,64}@[^\s@]{1,255}$/, says: "is not an e-mail address" };
const environment = [...ofDatabase, "MASTER_KEY", "BASE_URL", "PORT", "CONSOLE_URL", "OPS_PORT"];
const audited = "It is in the operators' audit as command-line.";
const forConsole = { summary: "for the operators' console (default: the merchants' portal)" } as const;

export const peopleCommands: readonly Command[] = [
  defineCommand({
    name: "people invite",
    summary: "Print a link that lets somebody into a merchant, once, within seven days",
    details: [audited],
    options: {
      merchant: { value: "mer_…", required: true, form: merchantForm, summary: "into which merchant" },
      role: { choices: memberRoles, required: true, summary: "what the person may do there" },
      email: { value: "ADDRESS", form: email, summary: "whom it is for; nobody else can use it then" },
    },
    examples: [["gerbang people invite --merchant mer_01… --role owner --email sari@toko.example", "the first owner"]],
    environment,
    exits: { 1: "there is no such merchant, or it failed" },
    run: async (values) => (await import("./people-command.ts")).inviteCommand(values),
  }),
  defineCommand({
    name: "people list",
    summary: "Print who belongs to a merchant, one line of JSON each",
    options: { merchant: { value: "mer_…", required: true, form: merchantForm, summary: "of which merchant" } },
    examples: [["gerbang people list --merchant mer_01…", "everybody, with role and second factor"]],
    environment,
    exits: { 1: "there is no such merchant, or it failed" },
    run: async (values) => (await import("./people-command.ts")).listCommand(values),
  }),
  defineCommand({
    name: "people invite-operator",
    summary: "Print a link that lets somebody into the console, once, within three days",
    details: ["In production the person adds a second factor before they may do anything.", audited],
    options: {
      role: { choices: operatorRoles, required: true, summary: "what the person may do" },
      email: { value: "ADDRESS", form: email, summary: "whom it is for; nobody else can use it then" },
    },
    examples: [["gerbang people invite-operator --role admin --email sari@gateway.example", "the first operator"]],
    environment,
    run: async (values) => (await import("./people-command.ts")).inviteOperatorCommand(values),
  }),
  defineCommand({
    name: "people list-operators",
    summary: "Print who may sign in to the console, one line of JSON each",
    examples: [["gerbang people list-operators", "everybody, with role and second factor"]],
    environment,
    run: async () => (await import("./people-command.ts")).listOperatorsCommand(),
  }),
  defineCommand({
    name: "people remove-operator",
    summary: "Take an operator out, and sign them out of the console everywhere",
    details: [audited],
    options: { email: { value: "ADDRESS", required: true, form: email, summary: "whom" } },
    examples: [["gerbang people remove-operator --email sari@gateway.example", "for somebody who left"]],
    environment,
    exits: { 1: "there is no operator by this address, or it failed" },
    run: async (values) => (await import("./people-command.ts")).removeOperatorCommand(values),
  }),
  defineCommand({
    name: "people sign-in-link",
    summary: "Print a link that signs somebody in, once, within fifteen minutes",
    details: ["It is for development: production refuses it.", audited],
    options: {
      email: { value: "ADDRESS", form: email, summary: "whom (default: the demo owner or the demo operator)" },
      console: forConsole,
    },
    examples: [
      ["gerbang people sign-in-link", "into the demo merchant's pages"],
      ["gerbang people sign-in-link --console", "into the console"],
    ],
    environment,
    exits: { 1: "there is nobody by this address, or it failed" },
    run: async (values) => (await import("./people-command.ts")).signInLinkCommand(values),
  }),
  defineCommand({
    name: "people reset-link",
    summary: "Print a link that lets somebody choose a password and a second factor anew",
    details: [
      "It takes away their password, authenticator, recovery codes and passkeys, and signs them in, once, within fifteen minutes. Make sure who asks for it.",
      audited,
    ],
    options: { email: { value: "ADDRESS", required: true, form: email, summary: "whom" }, console: forConsole },
    examples: [["gerbang people reset-link --email sari@toko.example", "for somebody who lost everything"]],
    environment,
    exits: { 1: "there is nobody by this address, or it failed" },
    run: async (values) => (await import("./people-command.ts")).resetLinkCommand(values),
  }),
];
