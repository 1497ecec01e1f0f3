// Parses the words of a command line into a command and its values. Pure: `parse` throws `UsageError` and prints nothing.
import { parseArgs } from "node:util";
import { type Command, type Option, UsageError, isSwitch } from "./command.ts";
import { didYouMean } from "./nearest.ts";

export type Parsed =
  | { kind: "run"; command: Command; values: Record<string, string | boolean | undefined>; operands: string[] }
  /** Help for the commands whose names begin with these words; without words, for all commands. */
  | { kind: "help"; words: readonly string[] }
  | { kind: "version" };

/** These words ask for help wherever they stand, except as the value of an option. */
const HELP = ["--help", "-h"];

/** Parses the words. Throws `UsageError`, which names what was not understood. */
export function parse(commands: readonly Command[], words: readonly string[]): Parsed {
  const [first] = words;
  if (first === undefined || HELP.includes(first)) return { kind: "help", words: [] };
  if (first === "--version" || first === "-v") return { kind: "version" };
  const { name, command } = named(commands, words);
  const rest = words.slice(name.length);
  if (!command) {
    if (rest.some((word) => HELP.includes(word))) return { kind: "help", words: name };
    const usual = commands.find((one) => one.alone === true && one.name.startsWith(`${name.join(" ")} `));
    if (usual && rest[0]?.startsWith("-") !== false) return valuesOf(usual, rest);
    throw new UsageError(unknownCommand(commands, name, rest[0]));
  }
  return valuesOf(command, rest);
}

/** The longest beginning of the words that is a command's name or the beginning of one, and that command. */
export function named(
  commands: readonly Command[],
  words: readonly string[],
): { name: string[]; command: Command | undefined } {
  const names = commands.map(({ name }) => name.split(" "));
  let length = 0;
  while (length < words.length && names.some((name) => startsWith(name, words.slice(0, length + 1)))) length++;
  const name = words.slice(0, length);
  return { name, command: commands.find((one) => one.name === name.join(" ")) };
}

export function startsWith(name: readonly string[], words: readonly string[]): boolean {
  return words.every((word, index) => name[index] === word);
}

/** The distinct words that may follow the beginning of a name. */
export function followers(commands: readonly Command[], beginning: readonly string[]): string[] {
  const next = commands
    .map(({ name }) => name.split(" "))
    .filter((name) => startsWith(name, beginning) && name.length > beginning.length)
    .map((name) => name[beginning.length] ?? "");
  return [...new Set(next)];
}

function unknownCommand(commands: readonly Command[], name: readonly string[], word: string | undefined): string {
  const known = followers(commands, name);
  const whole = ["gerbang", ...name].join(" ");
  const after = word === undefined ? "" : ". Options come after it";
  if (word === undefined || word.startsWith("-")) return `${whole} needs one of: ${known.join(", ")}${after}`;
  const hint = didYouMean(word, known, `${whole} `) || `. There are: ${known.join(", ")}`;
  return `${whole} has no command ${JSON.stringify(word)}${hint}`;
}

function valuesOf(command: Command, words: readonly string[]): Parsed {
  const { options, operand } = command;
  const known = { ...options, help: { summary: "" }, h: { summary: "" } } as Record<string, Option>;
  const { tokens } = parseArgs({
    args: [...words],
    strict: false,
    tokens: true,
    options: Object.fromEntries(
      Object.entries(known).map(([name, option]) => [name, { type: isSwitch(option) ? "boolean" : "string" }] as const),
    ),
  });
  const values: Record<string, string | boolean | undefined> = {};
  for (const [name, option] of Object.entries(options)) values[name] = isSwitch(option) ? false : option.default;
  const operands: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") operands.push(token.value);
    if (token.kind !== "option") continue;
    const { name, rawName, value, inlineValue } = token;
    const option = Object.hasOwn(known, name) ? known[name] : undefined;
    const bare = rawName.replace(/^-+/, "");
    if (!option) throw new UsageError(`there is no option ${rawName}${didYouMean(bare, Object.keys(options), "--")}`);
    if (name === "help" || name === "h") return { kind: "help", words: command.name.split(" ") };
    if (isSwitch(option) && value !== undefined) throw new UsageError(`${rawName} takes no value`);
    values[name] = isSwitch(option) ? true : valueGiven(option, rawName, value, inlineValue);
  }
  for (const [name, option] of Object.entries(options))
    if (option.required === true && (values[name] ?? false) === false) throw new UsageError(`--${name} is needed`);
  const most = operand ? (operand.many === true ? Number.POSITIVE_INFINITY : 1) : 0;
  const extra = operands[most];
  const [meant] = Object.entries(options).find(([, { choices }]) => choices?.includes(extra ?? "")) ?? [];
  const hint = meant === undefined ? "" : `. Did you mean --${meant} ${extra}?`;
  if (extra !== undefined) throw new UsageError(`${JSON.stringify(extra)} is one word too many${hint}`);
  const [word] = operands;
  if (operand?.required === true && word === undefined)
    throw new UsageError(
      operand.choices ? `one of ${operand.choices.join(", ")} is needed` : `${operand.name} is needed`,
    );
  if (operand?.choices && word !== undefined && !operand.choices.includes(word))
    throw new UsageError(
      `${JSON.stringify(word)} is none of ${operand.choices.join(", ")}${didYouMean(word, operand.choices)}`,
    );
  return { kind: "run", command, values, operands };
}

function valueGiven(option: Option, name: string, value: string | undefined, inline: boolean | undefined): string {
  if (value === undefined) throw new UsageError(`${name} needs a value`);
  // A word that begins with a dash is more likely the next option, after a forgotten value.
  if (inline !== true && /^-./.test(value))
    throw new UsageError(`${name} needs a value; one that begins with a dash is written ${name}=${value}`);
  if (option.choices && !option.choices.includes(value))
    throw new UsageError(
      `${name} is ${listed(option.choices)}, not ${JSON.stringify(value)}${didYouMean(value, option.choices)}`,
    );
  if (option.form && !option.form.pattern.test(value)) throw new UsageError(`${name} ${option.form.says}`);
  return value;
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}
