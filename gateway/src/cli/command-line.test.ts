// Goal: the command line explains itself, and a mistake in it is named with what to do. Method: the table of commands, its parser and its texts as
// pure functions, by example and over every command there is.
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { version } from "../ground/version.ts";
import { UsageError, defineCommand, isSwitch } from "./command.ts";
import { helpOf } from "./help.ts";
import { distance, nearest } from "./nearest.ts";
import { type Parsed, parse } from "./parse.ts";
import { commands } from "./table.ts";
import { variables } from "./variables.ts";

const merchant = `mer_${"0".repeat(26)}`;

/** What the words come to: values of a run, or the sentence of a mistake. */
function outcome(line: string): unknown {
  let parsed: Parsed;
  try {
    parsed = parse(commands, line.split(" ").filter(Boolean));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return error.message;
  }
  return parsed.kind === "run" ? { [parsed.command.name]: parsed.values, operands: parsed.operands } : parsed;
}

test.each([
  ["", { kind: "help", words: [] }],
  ["--help", { kind: "help", words: [] }],
  ["-h", { kind: "help", words: [] }],
  ["--version", { kind: "version" }],
  ["-v", { kind: "version" }],
  ["people --help", { kind: "help", words: ["people"] }],
  ["people invite --role king -h", '--role is owner, developer, finance, support or viewer, not "king"'],
  ["people invite --merchant", "--merchant needs a value"],
  ["people invite -h", { kind: "help", words: ["people", "invite"] }],
  ["verify", { verify: { merchant: undefined, environment: undefined }, operands: [] }],
  [`verify --merchant ${merchant}`, { verify: { merchant, environment: undefined }, operands: [] }],
  [`verify --merchant=${merchant}`, { verify: { merchant, environment: undefined }, operands: [] }],
  ["acquirer --port 1", { acquirer: { port: "1", host: "127.0.0.1" }, operands: [] }],
  ["acquirer --port 65535", { acquirer: { port: "65535", host: "127.0.0.1" }, operands: [] }],
  ["openapi --operator", { openapi: { operator: true, portal: false, postman: false }, operands: [] }],
  ["help people invite", { help: { markdown: false }, operands: ["people", "invite"] }],
  ["completion bash", { completion: {}, operands: ["bash"] }],
])("`gerbang %s` is understood", (line, expected) => expect(outcome(line)).toEqual(expected));

test.each([
  ["frobnicate", 'gerbang has no command "frobnicate". There are: serve, '],
  ["verfy", 'gerbang has no command "verfy". Did you mean gerbang verify?'],
  ["SERVE", "Did you mean gerbang serve?"],
  [
    "people",
    "gerbang people needs one of: invite, list, invite-operator, list-operators, remove-operator, sign-in-link, reset-link",
  ],
  ["people invit", "Did you mean gerbang people invite?"],
  ["people --email a@b.example", "gerbang people needs one of: invite"],
  ["--json people list", ", completion. Options come after it"],
  ["verify --merchnt x", "there is no option --merchnt. Did you mean --merchant?"],
  ["verify -x", "there is no option -x"],
  ["verify --__proto__ x", "there is no option --__proto__"],
  ["verify --constructor x", "there is no option --constructor"],
  ["verify extra", '"extra" is one word too many'],
  ["verify sandbox", '"sandbox" is one word too many. Did you mean --environment sandbox?'],
  ["verify --merchant --environment sandbox", "one that begins with a dash is written --merchant=--environment"],
  ["verify --merchant mer_1", "--merchant is not a merchant's id"],
  ["verify --environment sandbux", '--environment is sandbox or production, not "sandbux". Did you mean sandbox?'],
  ["openapi --operator=yes", "--operator takes no value"],
  ["acquirer --port 0", "--port is a number from 1 to 65535"],
  ["acquirer --port 65536", "--port is a number from 1 to 65535"],
  ["roles", "--sql is needed"],
  ["people reset-link", "--email is needed"],
  ["completion", "one of bash, zsh, fish is needed"],
  ["completion bsh", '"bsh" is none of bash, zsh, fish. Did you mean bash?'],
])("`gerbang %s` is a mistake that is named", (line, words) => expect(outcome(line)).toContain(words));

test("help for words that are no command names the nearest", () => {
  expect(() => helpOf(commands, ["peple"])).toThrow('there is no command "peple". Did you mean people?');
  expect(() => helpOf(commands, ["people", "invit"])).toThrow("Did you mean people invite?");
});

test("the nearest word is one that may be meant, and none when nothing is near", () => {
  expect([
    distance("verify", "verify"),
    distance("verfiy", "verify"),
    distance("", "abc"),
    distance("abc", "abd"),
  ]).toEqual([0, 1, 3, 1]);
  expect(nearest("migrat", ["serve", "migrate"])).toBe("migrate");
  expect(nearest("comp", ["serve", "completion"])).toBe("completion");
  expect(nearest("xyz", ["serve", "migrate"])).toBeUndefined();
  expect(nearest("m".repeat(100_000), ["migrate"])).toBeUndefined();
});

test("the help of everything lists each command, and that of a group its own", () => {
  const all = helpOf(commands, []);
  for (const { name, summary } of commands) expect(all).toMatch(new RegExp(`^  ${name} +${summary.slice(0, 20)}`, "m"));
  const group = helpOf(commands, ["people"]);
  expect(group).toContain("people invite");
  expect(group).not.toContain("verify");
});

test.each(commands.map((command) => [command.name, command] as const))(
  "`gerbang %s --help` says what one needs",
  (name, command) => {
    const text = helpOf(commands, name.split(" "));
    for (const heading of [`Usage: gerbang ${name}`, "Options:", "Examples:", "Exit codes:"])
      expect(text).toContain(heading);
    for (const [option, spec] of Object.entries(command.options)) {
      expect(text).toContain(`--${option}`);
      if (spec.default) expect(text.replaceAll(/\s+/g, " ")).toContain(`(default: ${spec.default})`);
      expect(spec.summary).not.toMatch(/[.]$/);
    }
    for (const variable of command.environment) expect(text).toContain(`${variable} `);
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(130);
    expect(command.summary).toMatch(/^[A-Z].*[^.]$/);
    expect(command.examples.length).toBeGreaterThan(0);
  },
);

test.each([40, 60, 80, 200])("the help fits a terminal of %d columns, but for commands to copy", (columns) => {
  const before = process.stdout.columns;
  process.stdout.columns = columns;
  onTestFinished(() => void (process.stdout.columns = before));
  const most = Math.max(60, Math.min(100, columns));
  const copied = new Set(commands.flatMap(({ examples }) => examples.map(([line]) => `  ${line}`)));
  for (const words of [[], ...commands.map(({ name }) => name.split(" "))]) {
    const lines = helpOf(commands, words).split("\n");
    expect(lines.filter((line) => line.length > most && !copied.has(line))).toEqual([]);
  }
});

test("every example is a command that is understood", () => {
  const lines = commands.flatMap(({ examples }) => examples.map(([line]) => line));
  for (const line of lines) {
    const [, after = ""] = /gerbang ((?:[^|>)"']|'[^']*')*)/.exec(line) ?? [];
    const words = [...after.trim().matchAll(/'([^']*)'|\S+/g)].map(([word, inner]) => inner ?? word);
    const whole = words.map((word) => (word === "mer_01…" ? merchant : word));
    expect(parse(commands, whole).kind, line).toBe("run");
  }
});

test("each variable that a command names is one that the program reads, and is explained once", () => {
  const config = readFileSync(new URL("../ground/config.ts", import.meta.url), "utf8");
  for (const name of new Set(commands.flatMap(({ environment }) => environment))) {
    expect(variables[name], name).toBeDefined();
    expect(config).toMatch(new RegExp(`^  ${name}: `, "m"));
  }
});

test("no command's name begins another's, and none comes twice", () => {
  const names = commands.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => names.some((other) => other.startsWith(`${name} `)))).toEqual([]);
});

test("a command runs with the values that its options promise", async () => {
  const seen: unknown[] = [];
  const command = defineCommand({
    name: "try it",
    summary: "Try",
    options: { often: { value: "N", default: "2", summary: "how often" }, loud: { summary: "aloud" } },
    examples: [],
    environment: [],
    run: (values) => {
      seen.push(values);
      return Promise.resolve(0);
    },
  });
  expect(isSwitch(command.options.loud ?? { summary: "", value: "" })).toBe(true);
  for (const words of [
    ["try", "it"],
    ["try", "it", "--loud", "--often", "3"],
  ]) {
    const parsed = parse([command], words);
    if (parsed.kind === "run") await parsed.command.run(parsed.values, parsed.operands);
  }
  expect(seen).toEqual([
    { often: "2", loud: false },
    { often: "3", loud: true },
  ]);
  expect(version).toMatch(/^\d+\.\d+\.\d+/);
});
