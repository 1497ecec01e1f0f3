// The command line: `gerbang <command>`. Data goes to standard output, words to standard error; exit 0 means clean.
import { parseArgs } from "node:util";
import { acquirerCommand } from "./cli/acquirer-command.ts";
import { ConfigError } from "./ground/config.ts";
import { stopWithParent } from "./ground/parent.ts";
import { insightsCommand, ledgerCommand, migrateCommand, openapiCommand, verifyCommand } from "./cli/commands.ts";
import { listenCommand } from "./cli/listen-command.ts";
import { operatorCommand } from "./cli/operator-command.ts";
import { peopleCommand } from "./cli/people-command.ts";
import { rolesCommand } from "./cli/roles-command.ts";
import { serveCommand } from "./cli/serve.ts";
import { signCommand } from "./cli/sign-command.ts";

const commands: Record<string, { run(args: string[]): Promise<number>; help: string }> = {
  serve: { run: serveCommand, help: "run the service [--role api|worker] (default: both)" },
  migrate: { run: migrateCommand, help: "bring the database's schema up to date" },
  roles: { run: rolesCommand, help: "print the SQL that makes the roles and the database: --sql" },
  verify: { run: verifyCommand, help: "replay the books [--merchant mer_… --environment sandbox|production]" },
  ledger: {
    run: ledgerCommand,
    help: "export a book: export --merchant mer_… --environment … --format hledger|beancount|jsonl",
  },
  insights: { run: insightsCommand, help: "count anew what the pages show over time: rebuild" },
  listen: {
    run: listenCommand,
    help: "hand a sandbox's events on to this machine: --forward-to http://localhost:3000/hook",
  },
  operator: {
    run: operatorCommand,
    help: "tokens of the operator's API: token create --name … [--role viewer|support|admin] | list | rotate --name … | revoke --name …",
  },
  people: {
    run: peopleCommand,
    help: "let people into the portal: invite --merchant mer_… --role owner | sign-in-link | reset-link --email … | list --merchant mer_…",
  },
  sign: {
    run: signCommand,
    help: "print the headers for a request: --client-id … --secret … [--body '{…}'] [--rfc9421 --url http://… [--method GET]]",
  },
  acquirer: { run: acquirerCommand, help: "run a simulated acquirer to try it with [--port 8090 --host 127.0.0.1]" },
  openapi: {
    run: openapiCommand,
    help: "print the contract of /v1 [--operator: of /ops/v1; --postman: as a Postman collection]",
  },
};

function usage(): string {
  const lines = Object.entries(commands).map(([name, { help }]) => `  gerbang ${name.padEnd(8)} ${help}`);
  return `Usage:\n${lines.join("\n")}\n`;
}

const { positionals } = parseArgs({ allowPositionals: true, strict: false });
const command = commands[positionals[0] ?? ""];
if (!command) {
  process.stderr.write(usage());
  process.exit(positionals.length === 0 ? 0 : 2);
}
stopWithParent();
try {
  process.exitCode = await command.run(process.argv.slice(3));
} catch (error) {
  const plain = error instanceof ConfigError || (error as { code?: string } | null)?.code?.startsWith("ERR_PARSE_ARGS");
  process.stderr.write(`${plain ? (error as Error).message : ((error as Error).stack ?? String(error))}\n`);
  process.exitCode = 1;
}
