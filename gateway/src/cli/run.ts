// Runs one command line: data to standard output, words to standard error, and an exit code.
import { versionLine } from "./built-in.commands.ts";
import { UsageError } from "./command.ts";
import { explain } from "./failures.ts";
import { helpOf } from "./help.ts";
import { named, parse } from "./parse.ts";
import { say } from "./say.ts";
import { commands } from "./table.ts";

/** Gives the exit code: 0 done, 1 failed, 2 misunderstood. Throws nothing. */
export async function runCommandLine(words: readonly string[]): Promise<number> {
  try {
    const parsed = parse(commands, words);
    if (parsed.kind === "run") return await parsed.command.run(parsed.values, parsed.operands);
    process.stdout.write(parsed.kind === "help" ? helpOf(commands, parsed.words) : versionLine());
    return 0;
  } catch (error) {
    if (error instanceof UsageError) return misunderstood(error, words);
    say(explain(error) ?? (error as Error).stack ?? String(error));
    return 1;
  }
}

/** Says what was wrong, and where help is: at the command, or at those that begin with the same words. */
function misunderstood({ message }: UsageError, words: readonly string[]): number {
  const { name, command } = named(commands, words);
  const whole = ["gerbang", ...name].join(" ");
  say(`${command ? `${whole}: ` : ""}${message}\nHelp: ${whole} --help`);
  return 2;
}
