// The rows of the table of commands about the database: its schema, its roles, its secrets, its books.
import { exportFormats } from "../ledger/export.ts";
import { environments } from "../merchants/books.ts";
import { type Command, defineCommand } from "./command.ts";
import { merchantForm } from "./merchant-option.ts";
import { ofDatabase } from "./variables.ts";

const ofSecrets = [...ofDatabase, "MASTER_KEY", "MASTER_KEY_SECOND"];

export const databaseCommands: readonly Command[] = [
  defineCommand({
    name: "migrate",
    summary: "Bring the database's schema up to date",
    details: [
      "Migrations go forward only, and each is applied once, however many processes run this together. Run it as the owner of the tables.",
    ],
    examples: [["gerbang migrate", "says what it applied"]],
    environment: ["MIGRATION_DATABASE_URL", ...ofDatabase],
    run: async () => (await import("./commands.ts")).migrateCommand(),
  }),
  defineCommand({
    name: "roles",
    summary: "Print the SQL that makes the roles and the database",
    details: ["It reads no configuration and asks no database: an administrator reads the SQL and runs it with psql."],
    options: { sql: { required: true, summary: "print it" } },
    examples: [["gerbang roles --sql > roles.sql", "keeps it in a file"]],
    run: async () => (await import("./roles-command.ts")).rolesCommand(),
  }),
  defineCommand({
    name: "secrets status",
    summary: "Count the secrets that each master key has sealed",
    details: ["It prints a line of JSON for each kind of secret, and changes nothing."],
    examples: [["gerbang secrets status", "is anything left for the old key?"]],
    environment: ofSecrets,
    exits: { 0: "MASTER_KEY has sealed everything", 1: "another key has sealed some, or it failed" },
    run: async () => (await import("./secrets-command.ts")).statusCommand(),
  }),
  defineCommand({
    name: "secrets reseal",
    summary: "Seal every secret with MASTER_KEY that another key has sealed",
    details: [
      "It is the third of four steps: docs/guides/secrets.md has them. The service may run meanwhile, with both keys. Interrupted, it goes on when it is called again.",
    ],
    examples: [["MASTER_KEY=$NEW MASTER_KEY_SECOND=$OLD gerbang secrets reseal", "after the keys were swapped"]],
    environment: ofSecrets,
    run: async () => (await import("./secrets-command.ts")).resealCommand(),
  }),
  defineCommand({
    name: "verify",
    summary: "Replay the books, and check every sum, sequence, hash and balance",
    details: ["It prints a line of JSON for each book. The service may run meanwhile. It changes nothing."],
    options: {
      merchant: { value: "mer_…", form: merchantForm, summary: "one merchant alone (default: all)" },
      environment: { choices: environments, summary: "one environment alone (default: both)" },
    },
    examples: [
      ["gerbang verify", "every book"],
      ["gerbang verify --merchant mer_01… --environment production", "one book"],
    ],
    environment: ofDatabase,
    exits: { 0: "every book is clean", 1: "a book is wrong, or there is none to look at" },
    run: async (values) => (await import("./commands.ts")).verifyCommand(values),
  }),
  defineCommand({
    name: "ledger export",
    summary: "Write a book as data for other programs",
    details: [
      "It goes to standard output, a journal at a time, so a book of any length passes through. It changes nothing.",
    ],
    options: {
      merchant: { value: "mer_…", required: true, form: merchantForm, summary: "whose book" },
      environment: { choices: environments, required: true, summary: "which of the two" },
      format: {
        choices: exportFormats,
        default: "jsonl",
        summary: "JSON lines, or the text of hledger and Ledger, or of Beancount",
      },
    },
    examples: [
      ["gerbang ledger export --merchant mer_01… --environment sandbox > book.jsonl", "a journal a line"],
      [
        "gerbang ledger export --merchant mer_01… --environment sandbox --format hledger | hledger -f- balance",
        "balances by hledger",
      ],
    ],
    environment: ofDatabase,
    run: async (values) => (await import("./commands.ts")).ledgerCommand(values),
  }),
  defineCommand({
    name: "insights rebuild",
    summary: "Count the figures of the portal anew, from the payments",
    details: ["The service may run meanwhile: it shows the old figures until the new ones are whole."],
    examples: [["gerbang insights rebuild", "after gerbang verify said that a figure is wrong"]],
    environment: ofDatabase,
    run: async () => (await import("./commands.ts")).insightsCommand(),
  }),
];
