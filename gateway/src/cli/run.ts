// Runs one command line: data to standard output, sentences to standard error, and an exit code.
import { versionLine } from "./built-in.commands.ts";
import { type Command, UsageError } from "./command.ts";
import { helpOf } from "./help.ts";
import { named, parse } from "./parse.ts";
import { say } from "./say.ts";

export interface Program {
  commands: readonly Command[];
  version: string;
  /** The sentence for an error that is not a fault of the program; undefined for every other error, whose stack is needed. */
  explain: (error: unknown) => string | undefined;
  /** Whether the error says that Ctrl-C ended the command. */
  isInterrupt?: (error: unknown) => boolean;
}

/** Returns the exit code: one of `exits`. Throws nothing. */
export async function runCommandLine(
  { commands, version, explain, isInterrupt }: Program,
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
    return isInterrupt?.(error) === true ? 130 : 1;
  }
}

/** Says what was wrong, and which command prints help: the command's own, or that of the group with the same first words. */
function misunderstood(commands: readonly Command[], { message }: UsageError, words: readonly string[]): number {
  const { name, command } = named(commands, words);
  const whole = ["gerbang", ...name].join(" ");
  say(`${command ? `${whole}: ` : ""}${message}\nHelp: ${whole} --help`);
  return 2;
}
