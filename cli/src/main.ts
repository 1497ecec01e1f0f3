#!/usr/bin/env node
// The command line for merchants: `gerbang <command>`. In a checkout it also hands the commands of the service over to its program.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { stopWithParent } from "../../gateway/src/ground/parent.ts";
import { runCommandLine } from "../../gateway/src/cli/run.ts";
import { explain, isInterrupt } from "./failures.ts";
import { say } from "./output/print.ts";
import { words } from "./output/text.ts";
import { allCommands, elsewhere, isOwn, ownCommands, serviceMain } from "./table.ts";
import { version } from "./version.ts";

// The reader of the output may stop early, as `head` does: that is no error, and the command goes on to its end.
process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
  if (code === "EPIPE") return;
  say(words`The output cannot be written: ${code === "ENOSPC" ? "the disk is full" : message}.`);
  process.exit(1);
});
// Nor does a command end in the middle of its work because nobody reads its sentences any more.
process.stderr.on("error", () => undefined);

// npx runs this below a shell, and a signal that ends npx ends these two alone: a listener that stayed would go on taking the events.
if (process.env.npm_lifecycle_event === "npx") process.env.GERBANG_PARENT ??= String(process.ppid);

const given = process.argv.slice(2);
// Node puts U+FFFD in the place of bytes that are no UTF-8: the ids of two orders could become one, and one payment theirs.
const mangled = given.find((word) => word.includes("\uFFFD"));
if (mangled !== undefined) {
  say(
    words`${JSON.stringify(mangled)} is not UTF-8 text. Set the terminal, or whatever starts this command, to UTF-8.`,
  );
  process.exitCode = 2;
} else if (isOwn(given)) {
  stopWithParent();
  process.exitCode = await runCommandLine({ commands: ownCommands(), version, explain, isInterrupt }, given);
} else {
  const commands = await allCommands();
  const where = elsewhere(given);
  const isService = commands.some(({ name, ofService }) => ofService && name.split(" ")[0] === given[0]);
  if (isService && existsSync(fileURLToPath(serviceMain))) {
    process.argv[1] = fileURLToPath(serviceMain);
    await import(serviceMain.href);
  } else if (where !== undefined) {
    say(words`${where}`);
    process.exitCode = 2;
  } else {
    stopWithParent();
    process.exitCode = await runCommandLine({ commands, version, explain, isInterrupt }, given);
  }
}
