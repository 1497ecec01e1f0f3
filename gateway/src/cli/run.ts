// Runs one command line: data to standard output, words to standard error, and an exit code.
import { versionLine } from "./built-in.commands.ts";
import { type Command, UsageError } from "./command.ts";
import { helpOf } from "./help.ts";
import { named, parse } from "./parse.ts";
import { say } from "./say.ts";

/** A program with commands. */
export interface Program {
  commands: readonly Command[];
  version: string;
  /** The sentence for an error that is no fault of the program; undefined for every other one, whose stack is needed. */
  explain: (error: unknown) => string | undefined;
}

/** Gives the exit code: 0 done, 1 failed, 2 misunderstood. Throws nothing. */
export async function runCommandLine(
  { commands, version, explain }: Program,
  words: readonly string[],
): Promise<number> {
  try {
    const parsed = parse(commands, words);
    if (parsed.kind === "run") return await parsed.command.run(parsed.values, parsed.operands);
    process.stdout.write(parsed.kind === "help" ? helpOf(commands, parsed.words) : versionLine(version));
    return 0;
  } catch (error) {
    if (error instanceof UsageError) return misunderstood(commands, error, words);
    say(explain(error) ?? (error as Error).stack ?? String(error));
    return 1;
  }
}

/** Says what was wrong, and where help is: at the command, or at those that begin with the same words. */
function misunderstood(commands: readonly Command[], { message }: UsageError, words: readonly string[]): number {
  const { name, command } = named(commands, words);
  const whole = ["gerbang", ...name].join(" ");
  say(`${command ? `${whole}: ` : ""}${message}\nHelp: ${whole} --help`);
  return 2;
}
