// Makes the scripts that complete commands, options and choices in a shell. They contain the whole table: Tab starts a program only for a `$(…)`. Pure.
import { type Command, isSwitch } from "./command.ts";
import { followers } from "./parse.ts";

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/** A place in a command line (the beginning of a command's name, or a whole one), and the words that may follow it. */
interface Place {
  words: string;
  next: readonly { word: string; summary: string }[];
  /** Options of this place whose value is one of some words; the last word of a command stands for its operand. */
  choices: readonly { option: string; words: readonly string[] }[];
  /** Options with a value that cannot be completed. */
  values: readonly string[];
}

export function completion(shell: Shell, commands: readonly Command[]): string {
  const places = placesOf(commands);
  return shell === "bash" ? bash(places) : shell === "zsh" ? zsh(places) : fish(places);
}

function placesOf(commands: readonly Command[]): Place[] {
  const names = commands.map(({ name }) => name.split(" "));
  const beginnings = names.flatMap((name) => name.map((_, length) => name.slice(0, length).join(" ")));
  const groups = [...new Set(beginnings)].map((words) => {
    const known = followers(commands, words === "" ? [] : words.split(" "));
    const next = known.map((word) => ({ word, summary: summaryAt(commands, `${words} ${word}`.trim()) }));
    const own = [
      { word: "--help", summary: "print help" },
      { word: "--version", summary: "print the version" },
    ];
    return { words, next: [...next, ...own.slice(0, words === "" ? 2 : 1)], choices: [], values: [] };
  });
  return [...groups, ...commands.map(placeOf)];
}

/** The summary of a command; for a group, the names in it. */
function summaryAt(commands: readonly Command[], name: string): string {
  const exact = commands.find((one) => one.name === name);
  return exact?.summary ?? followers(commands, name.split(" ")).join(", ");
}

function placeOf({ name, options, operand }: Command): Place {
  const all = Object.entries(options);
  const operands = (operand?.choices ?? []).map((word) => ({ word, summary: operand?.name ?? "" }));
  const flags = all.map(([option, { summary }]) => ({ word: `--${option}`, summary }));
  const valued = all.map(([option, { choices, known = [] }]) => ({ option: `--${option}`, words: choices ?? known }));
  const own = { option: name.split(" ").at(-1) ?? "", words: operand?.known ?? [] };
  return {
    words: name,
    next: [...operands, ...flags, { word: "--help", summary: "print help" }],
    choices: [...valued, own].filter(({ words }) => words.length > 0),
    values: all.filter(([, spec]) => !isSwitch(spec) && !spec.choices && !spec.known).map(([option]) => `--${option}`),
  };
}

/** Cases of a shell's `case` over the place and the previous word. */
function valueCases(places: readonly Place[], offer: (words: readonly string[]) => string): string {
  return places
    .flatMap(({ words, choices, values }) => [
      ...choices.map(({ option, words: known }) => `    "${words} ${option}") ${offer(known)}; return ;;\n`),
      ...(values.length === 0 ? [] : [`    ${values.map((option) => `"${words} ${option}"`).join("|")}) return ;;\n`]),
    ])
    .join("");
}

/** A shell pattern of all places, by which a script follows the words from one place to the next. After `help` comes what comes without it. */
const steps = (places: readonly Place[]): string =>
  [...new Set(places.map(({ words }) => `"${words}"`))].filter((place) => !/^"(help)?"$/.test(place)).join("|");

function bash(places: readonly Place[]): string {
  const cases = places
    .map(({ words, next }) => `    "${words}") known="${next.map(({ word }) => word).join(" ")}" ;;\n`)
    .join("");
  return `# Completion of gerbang for bash: eval "$(gerbang completion bash)"
_gerbang() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" place="" known="" at
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "\${place:+$place }\${COMP_WORDS[at]}" in
      ${steps(places)}) place="\${place:+$place }\${COMP_WORDS[at]}" ;;
    esac
  done
  if [[ $word == = ]]; then word=""; elif [[ $before == = ]]; then before="\${COMP_WORDS[COMP_CWORD-2]}"; fi # --option=value
  COMPREPLY=()
  case "$place $before" in
${valueCases(places, (words) => `COMPREPLY=($(compgen -W "${words.join(" ")}" -- "$word"))`)}  esac
  case "$place" in
${cases}  esac
  COMPREPLY=($(compgen -W "$known" -- "$word"))
}
complete -F _gerbang gerbang
`;
}

function zsh(places: readonly Place[]): string {
  const item = ({ word, summary }: { word: string; summary: string }): string =>
    quoted(`${word}:${summary.replaceAll(":", "\\:")}`);
  const cases = places.map(({ words, next }) => `    "${words}") known=(${next.map(item).join(" ")}) ;;\n`).join("");
  return `#compdef gerbang
# Completion of gerbang for zsh: eval "$(gerbang completion zsh)", after compinit
_gerbang() {
  local place="" before="\${words[CURRENT-1]}" at
  local -a known
  for ((at = 2; at < CURRENT; at++)); do
    case "\${place:+$place }\${words[at]}" in
      ${steps(places)}) place="\${place:+$place }\${words[at]}" ;;
    esac
  done
  case "$place $before" in
${valueCases(places, (words) => `compadd -- ${words.join(" ")}`)}  esac
  case "$place" in
${cases}  esac
  _describe gerbang known
}
compdef _gerbang gerbang
`;
}

function fish(places: readonly Place[]): string {
  const lines = places.flatMap(({ words, next, choices, values }) => {
    const here = `complete -c gerbang -n '__gerbang_at "${words}"'`;
    const valued = new Map([
      ...choices.map(({ option, words: known }): [string, string] => [option, ` -x -a '${known.join(" ")}'`]),
      ...values.map((option): [string, string] => [option, " -x"]),
    ]);
    const own = choices.filter(({ option }) => !option.startsWith("--"));
    return [
      ...next.map(({ word, summary }) =>
        word.startsWith("--")
          ? `${here} -l ${word.slice(2)}${valued.get(word) ?? ""} -d ${quoted(summary)}`
          : `${here} -a ${word} -d ${quoted(summary)}`,
      ),
      ...own.map(({ words: known }) => `${here} -a '${known.join(" ")}'`),
    ];
  });
  return `# Completion of gerbang for fish: gerbang completion fish > ~/.config/fish/completions/gerbang.fish
function __gerbang_at
  set -l place
  for word in (commandline -opc)[2..]
    switch (string join -- ' ' $place $word)
      case ${steps(places).replaceAll("|", " ")}
        set -a place $word
    end
  end
  set -l found (string join -- ' ' $place)
  test "$found" = "$argv[1]"
end
complete -c gerbang -f
${lines.join("\n")}
`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "’")}'`;
