// The rows of the table of commands that run programs: the service, and the simulated acquirer.
import { type Command, type Form, defineCommand } from "./command.ts";
import { ofDatabase } from "./variables.ts";

const port: Form = {
  pattern: /^([1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5])$/,
  says: "is a number from 1 to 65535",
};

export const serviceCommands: readonly Command[] = [
  defineCommand({
    name: "serve",
    summary: "Run the service",
    details: [
      "Any number of processes share one PostgreSQL and nothing else. SIGTERM or Ctrl-C stops one in order, within ten seconds.",
      "Without DATABASE_URL it starts a PostgreSQL of its own. In development it makes a demo merchant. It brings the schema up to date where its role may; in production run gerbang migrate first, as the owner. It reads more variables than those below: docs/guides/settings.md has all of them.",
    ],
    options: { role: { choices: ["api", "worker"], summary: "which half to run (default: both)" } },
    examples: [
      ["gerbang serve", "API and worker in one process"],
      ["PORT=8090 gerbang serve --role api", "the API alone, on another port"],
    ],
    environment: [
      "NODE_ENV",
      "HOST",
      "PORT",
      "BASE_URL",
      ...ofDatabase,
      "MIGRATION_DATABASE_URL",
      "MASTER_KEY",
      "OPERATOR_TOKEN",
      "ACQUIRERS_FILE",
      "LOG_LEVEL",
    ],
    exits: { 0: "it was told to stop, and stopped in order", 1: "it could not start" },
    run: async (values) => (await import("./serve.ts")).serveCommand(values),
  }),
  defineCommand({
    name: "acquirer",
    summary: "Run a simulated acquirer to try failures with",
    details: [
      "It is for development: it does not start with NODE_ENV=production. Its guide is docs/guides/acquirers.md.",
    ],
    options: {
      port: { value: "PORT", default: "8090", form: port, summary: "where it listens" },
      host: { value: "ADDRESS", default: "127.0.0.1", summary: "the address that it listens on" },
    },
    examples: [["gerbang acquirer", "answers at http://127.0.0.1:8090; the service finds it by acquirers.json"]],
    environment: ["GERBANG_DATA"],
    run: async (values) => (await import("./acquirer-command.ts")).acquirerCommand(values),
  }),
];
