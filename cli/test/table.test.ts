// Goal: merchants' commands and the service's are one command line: one help, one completion, one page; and the merchants' part stands by itself.
// Method: the tables of commands as data, the texts made of them, and the imports of the sources.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { commandPage } from "../../gateway/src/cli/command-page.ts";
import { UsageError } from "../../gateway/src/cli/command.ts";
import { completion } from "../../gateway/src/cli/completion.ts";
import { helpOf } from "../../gateway/src/cli/help.ts";
import { parse } from "../../gateway/src/cli/parse.ts";
import { commands as serviceCommands } from "../../gateway/src/cli/table.ts";
import { variables } from "../../gateway/src/cli/variables.ts";
import { eventTypes } from "../src/common.ts";
import { allCommands, isOwn, merchantCommands, ownCommands } from "../src/table.ts";
import { version } from "../src/version.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const all = await allCommands();
const textOf = (file: string): string => readFileSync(join(root, file), "utf8");

test("docs/guides/command-line.md is up to date (renew it with `npx gerbang help --markdown`)", () => {
  expect(textOf("docs/guides/command-line.md") === commandPage(all)).toBe(true);
});

test("no command comes twice, or begins another's, and each of the service's is there", () => {
  const names = all.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => names.some((other) => other.startsWith(`${name} `)))).toEqual([]);
  expect(names).toEqual(expect.arrayContaining(serviceCommands.map(({ name }) => name)));
});

test("a merchant's command is known by its first word, which is none of the service's", () => {
  const known = new Set(serviceCommands.map(({ name }) => name.split(" ")[0]));
  for (const { name } of merchantCommands) {
    expect(isOwn(name.split(" "))).toBe(true);
    expect(known.has(name.split(" ")[0])).toBe(false);
  }
  for (const words of [[], ["help"], ["serve"], ["people", "invite"]]) expect(isOwn(words)).toBe(false);
});

test.each(merchantCommands.map((command) => [command.name, command] as const))(
  "`gerbang %s --help` says what one needs, and its examples are understood",
  (name, command) => {
    const text = helpOf(all, name.split(" "));
    for (const heading of [`Usage: gerbang ${name}`, "Options:", "Examples:", "Exit codes:"])
      expect(text).toContain(heading);
    for (const [option, { summary }] of Object.entries(command.options)) {
      expect(text).toContain(`--${option}`);
      expect(summary).not.toMatch(/[.]$/);
    }
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(130);
    expect(command.summary).toMatch(/^[A-Z].*[^.]$/);
    for (const [line] of command.examples) {
      const [, after = ""] = /gerbang ((?:[^|>&"']|'[^']*')*)/.exec(line) ?? [];
      const words = [...after.trim().matchAll(/'([^']*)'|\S+/g)].map(([word, inner]) => inner ?? word);
      expect(parse(all, words).kind, line).toBe("run");
    }
  },
);

test("each variable that a merchant's command names is explained, and read somewhere", () => {
  const sources = readdirSync(join(root, "cli/src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => textOf(`cli/src/${name}`))
    .filter((text) => !text.includes("defineCommand("))
    .join("\n");
  for (const name of new Set(merchantCommands.flatMap(({ environment }) => environment))) {
    expect(variables[name], name).toBeDefined();
    expect(sources).toMatch(new RegExp(`\\b${name}\\b`));
  }
});

test("bash completes merchants' commands, their options and their choices, and the profiles that there are", () => {
  const offered = (...words: string[]): string[] =>
    execFileSync(
      "bash",
      [
        "--norc",
        "-c",
        `gerbang() { [ "$*" = "profiles list --json" ] && printf '{"name":"%s","in_use":true}\\n' default live.1; }
${completion("bash", all)}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _gerbang; printf '%s\\n' "\${COMPREPLY[@]}"`,
      ],
      { encoding: "utf8" },
    )
      .split("\n")
      .filter(Boolean);
  expect(offered("gerbang", "pay")).toEqual(["payments"]);
  expect(offered("gerbang", "payments", "w")).toEqual(["wait"]);
  expect(offered("gerbang", "payments", "list", "--me")).toEqual(["--method"]);
  expect(offered("gerbang", "payments", "create", "--method", "e")).toEqual(["ewallet"]);
  expect(offered("gerbang", "payments", "list", "--profile", "")).toEqual(["default", "live.1"]);
  expect(offered("gerbang", "profiles", "use", "l")).toEqual(["live.1"]);
  expect(offered("gerbang", "trigger", "dispute.")).toEqual(["dispute.opened", "dispute.updated", "dispute.resolved"]);
});

test.skipIf(!existsSync(join(root, "examples/samples.json")))(
  "the samples are those of the examples (skipped where there are none)",
  () => {
    const { operand } = merchantCommands.find(({ name }) => name === "samples") ?? {};
    expect(operand?.choices).toEqual(Object.keys(JSON.parse(textOf("examples/samples.json")) as object));
  },
);

test("types of events are those of the contract, and the version is the package's", () => {
  const { components } = JSON.parse(textOf("openapi/merchant.json")) as {
    components: { schemas: Record<string, { enum?: string[] }> };
  };
  expect([...eventTypes]).toEqual(components.schemas.EventType?.enum);
  expect((JSON.parse(textOf("cli/package.json")) as { version: string }).version).toBe(version);
});

test("without the service there are the merchants' commands, help, version and completion, and nothing else", () => {
  const names = ownCommands().map(({ name }) => name);
  expect(names).toEqual([...merchantCommands.map(({ name }) => name), "help", "version", "completion"]);
  expect(() => parse(ownCommands(), ["serve"])).toThrow(UsageError);
});

test("it needs no package: its sources import Node, the client library, and the pure part of the service's command line", () => {
  const seen = new Set<string>();
  const foreign: string[] = [];
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const [, target = ""] of textOf(file).matchAll(/(?:\bfrom\s+|\bimport\()"([^"]+)"/g)) {
      if (!target.startsWith(".")) {
        if (!target.startsWith("node:")) foreign.push(`${file} imports ${target}`);
        continue;
      }
      const path = relative(root, resolve(root, dirname(file), target));
      expect(existsSync(join(root, path)), path).toBe(true);
      visit(path);
    }
  };
  visit("cli/src/main.ts");
  expect(foreign).toEqual([]);
  const ofService = [...seen].filter((file) => file.startsWith("gateway/"));
  expect(ofService.filter((file) => !/^gateway\/src\/(cli\/[a-z.-]+|ground\/parent)\.ts$/.test(file))).toEqual([]);
  expect([...seen].some((file) => file.startsWith("sdk/src/"))).toBe(true);
});
