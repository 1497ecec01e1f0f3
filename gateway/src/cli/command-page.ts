// Makes the page docs/guides/command-line.md from the table of commands. Pure.
import { type Command, notationOf } from "./command.ts";
import { exits, summaryOf, usageOf } from "./help.ts";
import { variables } from "./variables.ts";

const HEAD = `<!-- docs: Tools 20 -->
# The command line

From a terminal: payments, refunds, payouts, disputes, events and logs, with money that lines up for people and JSON for programs.

The commands of merchants, from [\`login\`](#gerbang-login) on, call the API as whoever signed in, from any machine with Node 20. Every service has them as [a package](/docs/files/gerbang-cli.tgz):

\`\`\`sh
npm install -g https://pay.example/docs/files/gerbang-cli.tgz
gerbang login --base-url https://pay.example/v1
\`\`\`

Without a sign-in they take GERBANG_CLIENT_ID, GERBANG_SECRET and GERBANG_BASE_URL, or the demo merchant of a service that was started in this folder. From the root of a
checkout every command is there as \`npx gerbang <command>\`; \`npx gerbang help --markdown > docs/guides/command-line.md\` makes this page.

The others are for whoever runs the service, and are in its checkout alone. Such a command finds the database that \`npm start\` uses, running or not: \`DATABASE_URL\`, or the embedded one under
\`GERBANG_DATA\`. A command that only reads makes neither a database nor a folder. Data goes to standard output, words to standard error. On
a terminal that is too narrow for a table, its rows are folded between their cells.

\`gerbang <command> --help\` and \`gerbang help <command>\` explain one. \`gerbang completion bash\`, \`zsh\` or \`fish\` prints a script that completes commands and options.

`;

/** Returns the page as Markdown, with a section for every command. */
export function commandPage(commands: readonly Command[]): string {
  const contents = rows(
    ["command", "what it does"],
    commands.map(({ name, summary }) => [`[\`gerbang ${name}\`](#gerbang-${name.replaceAll(" ", "-")})`, summary]),
  );
  const codes = `Exit codes are ${Object.entries(exits)
    .map(([code, meaning]) => `${code}: ${meaning}`)
    .join("; ")}. Where a command means something else by them, it says so.\n`;
  return `${HEAD}${contents}\n${codes}\n${commands.map(section).join("\n")}`;
}

function section(command: Command): string {
  const { name, summary, details = [], options, examples, environment } = command;
  const optionRows = Object.entries(options).map(([option, spec]) => [
    `\`${notationOf(option, spec)}\``.replaceAll("|", "\\|"),
    summaryOf(command, option),
  ]);
  const exitRows = Object.entries(command.exits ?? {});
  const parts = [
    `## gerbang ${name}\n`,
    `${summary}.\n`,
    ...details.map((text) => `${text}\n`),
    `\`\`\`\n${usageOf(command)}\n\`\`\`\n`,
    ...(optionRows.length === 0 ? [] : [rows(["option", "meaning"], optionRows)]),
    ...(exitRows.length === 0 ? [] : [rows(["exit code", "meaning"], exitRows)]),
    `\`\`\`sh\n${examples.map(([line, purpose]) => `${line}   # ${purpose}\n`).join("")}\`\`\`\n`,
    ...(environment.length === 0
      ? []
      : [
          rows(
            ["variable", "meaning"],
            environment.map((one) => [`\`${one}\``, variables[one] ?? ""]),
          ),
        ]),
  ];
  return parts.join("\n");
}

function rows(head: readonly string[], lines: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}
