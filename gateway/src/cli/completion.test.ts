// Goal: Tab offers the words that may come. Method: the printed scripts in the shells themselves; zsh and fish where they are installed.
import { execFileSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { defineCommand } from "./command.ts";
import { type Shell, completion } from "./completion.ts";
import { commands } from "./table.ts";

/** What a shell offers after a line; its last word is the one that is being typed. */
const asks: Record<Shell, (script: string, line: string) => string> = {
  bash: (script, line) => `${script}
COMP_WORDS=(${shellWords(line)}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_gerbang; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // The two functions by which zsh takes words stand in here for its line editor.
  zsh: (script, line) => `compdef() { :; }
compadd() { shift; print -l -- \${(M)@:#\${words[CURRENT]}*}; }
_describe() { local -a all=("\${(@P)2}"); all=("\${all[@]%%:*}"); print -l -- \${(M)all:#\${words[CURRENT]}*} }
${script}
words=(${shellWords(line)}); CURRENT=$#words; _gerbang`,
  fish: (script, line) => `${script}\ncomplete -C '${line}' | string replace -r '\\t.*' ''; or true`,
};

/** The words of a line for a shell's array; a space at the end begins an empty one. */
function shellWords(line: string): string {
  return line
    .split(" ")
    .map((word) => `'${word}'`)
    .join(" ");
}

const has = (shell: Shell): boolean =>
  (process.env.PATH ?? "").split(delimiter).some((place) => existsSync(join(place, shell)));

function offered(shell: Shell, line: string, of = commands): string[] {
  const quiet = shell === "bash" ? ["--norc", "--noprofile"] : shell === "zsh" ? ["-f"] : ["--no-config"];
  const script = asks[shell](completion(shell, of), line);
  const output = execFileSync(shell, [...quiet, "-c", script], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  return output.split("\n").filter(Boolean).toSorted();
}

const first = [...new Set(commands.map(({ name }) => name.split(" ")[0] ?? ""))].toSorted();

test.skipIf(!has("bash"))(
  "bash, which takes the = for a word, offers the values of an option that is written with it",
  () => {
    expect(offered("bash", "gerbang verify --environment = s")).toEqual(["sandbox"]);
    expect(offered("bash", "gerbang verify --environment =")).toEqual(["production", "sandbox"]);
  },
);

describe("bash");
describe("zsh");
describe("fish");

function describe(shell: Shell): void {
  const here = test.skipIf(!has(shell));
  const note = shell === "bash" ? "" : ` (skipped where there is no ${shell})`;
  // fish offers options only once a dash was typed.
  const withOptions = (words: string[], options: string[]): string[] =>
    (shell === "fish" ? words : [...words, ...options]).toSorted();

  here(`${shell} offers every command${note}`, () => {
    expect(offered(shell, "gerbang ")).toEqual(withOptions(first, ["--help", "--version"]));
    expect(offered(shell, "gerbang ver")).toEqual(["verify", "version"]);
  });

  here(`${shell} offers the commands of a group${note}`, () => {
    expect(offered(shell, "gerbang people ")).toEqual(
      withOptions(
        ["invite", "invite-operator", "list", "list-operators", "remove-operator", "reset-link", "sign-in-link"],
        ["--help"],
      ),
    );
    expect(offered(shell, "gerbang ledger e")).toEqual(["export"]);
  });

  here(`${shell} offers a command's options, also after others${note}`, () => {
    expect(offered(shell, "gerbang people invite --")).toEqual(["--email", "--help", "--merchant", "--role"]);
    expect(offered(shell, "gerbang verify --merchant mer_1 --e")).toEqual(["--environment"]);
  });

  here(`${shell} offers the values of an option, and nothing where nobody can know them${note}`, () => {
    expect(offered(shell, "gerbang verify --environment ")).toEqual(["production", "sandbox"]);
    expect(offered(shell, "gerbang ledger export --format h")).toEqual(["hledger"]);
    expect(offered(shell, "gerbang verify --merchant ")).toEqual([]);
  });

  here(`${shell} offers commands after help, as it does without it${note}`, () => {
    expect(offered(shell, "gerbang help pe")).toEqual(["people"]);
    expect(offered(shell, "gerbang help people inv")).toEqual(["invite", "invite-operator"]);
  });

  here(`${shell} offers what a command prints, to an option and as the word after a command${note}`, () => {
    const known = ["$(seq 18 20)"];
    const run = () => Promise.resolve(0);
    const options = { size: { value: "N", known, summary: "how big" } };
    const own = [
      defineCommand({ name: "shoe", summary: "", options, operand: { name: "n", known }, examples: [], run }),
    ];
    expect(offered(shell, "gerbang shoe --size ", own)).toEqual(["18", "19", "20"]);
    expect(offered(shell, "gerbang shoe 1", own)).toEqual(["18", "19"]);
  });

  here(`${shell} offers shells to the command that completes them${note}`, () => {
    expect(offered(shell, "gerbang completion f")).toEqual(["fish"]);
  });
}
