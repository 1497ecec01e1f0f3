// The tables of commands: those for merchants, and in a checkout those of the service as well. Help, completion and docs follow from them.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { builtInCommands } from "../../gateway/src/cli/built-in.commands.ts";
import type { Command } from "../../gateway/src/cli/command.ts";
import { eventCommands } from "./events.commands.ts";
import { moneyCommands } from "./money.commands.ts";
import { paymentCommands } from "./payments.commands.ts";
import { sandboxCommands } from "./sandbox.commands.ts";
import { sessionCommands } from "./session.commands.ts";
import { version } from "./version.ts";

/** Both files exist in a checkout only. */
const serviceTable = new URL("../../gateway/src/cli/table.ts", import.meta.url);
export const serviceMain = new URL("../../gateway/src/main.ts", import.meta.url);

export const merchantCommands: readonly Command[] = [
  ...sessionCommands,
  ...paymentCommands,
  ...moneyCommands,
  ...eventCommands,
  ...sandboxCommands,
];

/** The first words of the service's commands: where it is not, each is said to be in its checkout. */
const serviceWords =
  "serve acquirer provider migrate roles secrets verify ledger insights operator people sign openapi".split(" ");

/** The sentence about a command of the service, where the service is not; undefined for other words. */
export function elsewhere([first = "", second = ""]: readonly string[]): string | undefined {
  const word = first === "help" ? second : first;
  return serviceWords.includes(word) && !existsSync(fileURLToPath(serviceTable))
    ? `gerbang ${word} is for whoever runs the service, and only its checkout has it: npx gerbang ${word} runs it there.`
    : undefined;
}

const firstWords = new Set(merchantCommands.map(({ name }) => name.split(" ")[0] ?? ""));

/** True when the words name a command for merchants: then nothing else has to be loaded. */
export const isOwn = ([first = ""]: readonly string[]): boolean => firstWords.has(first);

/** The commands without those that only a checkout has. */
export function ownCommands(): readonly Command[] {
  const commands: Command[] = [...merchantCommands, ...builtInCommands(() => commands, version)];
  return commands;
}

/** All commands that are available here; `ofService` marks those of the service. */
export async function allCommands(): Promise<readonly (Command & { ofService: boolean })[]> {
  const builtIn = new Set(builtInCommands(() => [], version).map(({ name }) => name));
  // The import names no literal path: a package without the service has no such file.
  const { commands: known } = existsSync(fileURLToPath(serviceTable))
    ? ((await import(serviceTable.href)) as { commands: readonly Command[] })
    : { commands: [] };
  const marked = (commands: readonly Command[], ofService: boolean) =>
    commands.map((command) => ({ ...command, ofService }));
  const all: (Command & { ofService: boolean })[] = [
    ...marked(
      known.filter(({ name }) => !builtIn.has(name)),
      true,
    ),
    ...marked(merchantCommands, false),
    ...marked(
      builtInCommands(() => all, version),
      false,
    ),
  ];
  return all;
}
