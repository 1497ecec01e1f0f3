// The help of the command line as text, as wide as the terminal allows.
import { type Command, UsageError, notationOf } from "./command.ts";
import { didYouMean } from "./nearest.ts";
import { followers, startsWith } from "./parse.ts";
import { variables } from "./variables.ts";

const widthMax = (): number => Math.max(60, Math.min(100, process.stdout.columns || 100));

/** Meanings of the exit codes of every command that does not say otherwise. */
export const exits: Readonly<Record<number, string>> = {
  0: "done",
  1: "it failed",
  2: "the command was misunderstood",
  130: "Ctrl-C ended it before it was done",
};

/** Help for the command with this name, for those whose names begin so, or for all. Throws `UsageError` when there is none. */
export function helpOf(commands: readonly Command[], words: readonly string[]): string {
  const found = commands.filter(({ name }) => startsWith(name.split(" "), words));
  const exact = found.find(({ name }) => name === words.join(" "));
  if (exact) return helpOfOne(exact);
  if (found.length === 0) throw new UsageError(noHelp(commands, words));
  const about = words.length === 0 ? "Gerbang, a payment gateway that a team runs itself.\n\n" : "";
  const usage = `Usage: gerbang ${[...words, "<command>"].join(" ")} [options]\n`;
  const rows = found.map(({ name, summary }): [string, string] => [name, summary]);
  const more = `gerbang ${[...words, "<command>"].join(" ")} --help explains one.`;
  return `${about}${usage}\nCommands:\n${table(rows)}\n${more}\n`;
}

function noHelp(commands: readonly Command[], words: readonly string[]): string {
  const wrong = words.findIndex((_, index) => !followers(commands, words.slice(0, index)).includes(words[index] ?? ""));
  const right = words.slice(0, wrong);
  const hint = didYouMean(words[wrong] ?? "", followers(commands, right), right.map((word) => `${word} `).join(""));
  return `there is no command ${JSON.stringify(words.join(" "))}${hint || "."}`;
}

/** The usage line of a command: optional parts are in brackets. */
export function usageOf({ name, options, operand }: Command): string {
  const parts = Object.entries(options).map(([option, spec]) => {
    const text = notationOf(option, spec);
    return spec.required === true ? text : `[${text}]`;
  });
  const word = operand && (operand.choices?.join("|") ?? `<${operand.name}>`);
  const last = word === undefined ? [] : [operand?.required === true ? word : `[${word}${operand?.many ? " …" : ""}]`];
  return ["gerbang", name, ...last, ...parts].join(" ");
}

/** The summary of an option, with its default. */
export function summaryOf(command: Command, option: string): string {
  const { summary = "", default: usual, required } = command.options[option] ?? {};
  if (required === true) return `${summary} (needed)`;
  return usual === undefined || usual === "" ? summary : `${summary} (default: ${usual})`;
}

function helpOfOne(command: Command): string {
  const { summary, details = [], options, examples, environment } = command;
  const optionRows = Object.entries(options).map(([name, option]): [string, string] => [
    notationOf(name, option),
    summaryOf(command, name),
  ]);
  const sections = [
    `${wrap(`${summary}.`, 0)}\n`,
    ...details.map((text) => `${wrap(text, 0)}\n`),
    `Usage: ${wrap(usageOf(command), 7)}\n`,
    `Options:\n${table([...optionRows, ["-h, --help", "print this"]])}`,
    `Examples:\n${examples.map(([line, purpose]) => `  ${line}\n      ${wrap(purpose, 6)}\n`).join("")}`,
    ...(environment.length === 0
      ? []
      : [`Environment:\n${table(environment.map((name) => [name, variables[name] ?? ""]))}`]),
    `Exit codes:\n${table(Object.entries({ ...exits, ...command.exits }))}`,
  ];
  return sections.join("\n");
}

/** Two columns; a long name has a line of its own. */
function table(rows: readonly (readonly [string, string])[]): string {
  const left = Math.min(30, Math.max(...rows.map(([name]) => name.length)));
  return rows
    .map(([name, text]) => {
      const words = wrap(text, left + 4);
      return name.length > left
        ? `  ${wrap(name, 6)}\n${" ".repeat(left + 4)}${words}\n`
        : `  ${name.padEnd(left)}  ${words}\n`;
    })
    .join("");
}

/** Breaks a text into lines of `widthMax`; all but the first are indented by `indent`. */
function wrap(text: string, indent: number): string {
  const lines: string[] = [""];
  // An option in brackets is not separated from its value.
  for (const word of text.split(/ (?![^[]*\])/).flatMap((word) => piecesOf(word, widthMax() - indent))) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && indent + line.length + 1 + word.length > widthMax()) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line}${line.endsWith("|") ? "" : " "}${word}`;
  }
  return lines.join(`\n${" ".repeat(indent)}`);
}

/** Splits a list of choices that is too long for a line into pieces that fit. */
function piecesOf(word: string, room: number): string[] {
  if (word.length <= room) return [word];
  const pieces: string[] = [""];
  for (const part of word.split(/(?<=\|)/)) {
    const piece = pieces.at(-1) ?? "";
    if (piece !== "" && piece.length + part.length > room) pieces.push(part);
    else pieces[pieces.length - 1] = piece + part;
  }
  return pieces;
}
