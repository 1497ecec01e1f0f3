// Goal: what documents show as code can be read as such, in every language. Method: each block of every page, given to its language's own reader.
// That it does what the text says is for the tests of the single guides.
import { spawnSync } from "node:child_process";
import { stripTypeScriptTypes } from "node:module";
import { expect, test } from "vitest";
import { highlighted, languageOf } from "./highlight.ts";
import { allPages } from "./site.ts";

interface Block {
  source: string;
  language: string;
  code: string;
}

const blocks = allPages().flatMap(({ source, markdown }) =>
  [...markdown.matchAll(/^( *)```(\w*)[^\n]*\n([\s\S]*?)^\1```$/gm)].map(([, , info = "", code = ""]): Block => ({
    source,
    language: languageOf(info),
    code,
  })),
);
const inLanguage = (language: string): Block[] => blocks.filter((block) => block.language === language);
const has = (program: string, argument: string): boolean => spawnSync(program, [argument]).status === 0;

/** The blocks that a reader refuses, with what it says. */
function refused(language: string, read: (code: string) => string | undefined): string[] {
  return inLanguage(language).flatMap(({ source, code }) => {
    const said = read(code);
    return said === undefined ? [] : [`${source}: ${said}\n${code}`];
  });
}

function thrownBy(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function saidBy(program: string, args: string[], input: string): string | undefined {
  const { status, stderr, stdout } = spawnSync(program, args, { input, encoding: "utf8" });
  return status === 0 ? undefined : stderr || stdout;
}

test("there are blocks to read", () => {
  expect(inLanguage("bash").length).toBeGreaterThan(50);
  expect(inLanguage("json").length).toBeGreaterThan(50);
});

test("the reader's own address replaces the whole of an address, never the beginning of another one", () => {
  const filled = (code: string): string =>
    highlighted(code, "sh")
      .replaceAll(/<span data-fill="root">[^<]*<\/span>/g, "HERE")
      .replaceAll(/<[^>]+>/g, "");
  expect(filled('curl "https://pay.example/v1"; open https://pay.example')).toBe("curl &quot;HERE/v1&quot;; open HERE");
  const others = [
    "https://pay.example.com/acquirers/stripe/callbacks",
    "https://pay.examples",
    "https://pay.example-b.id",
  ];
  expect(others.map(filled)).toEqual(others);
  expect(blocks.filter(({ code }) => /HERE(?:[\w-]|\.\w)/.test(filled(code)))).toEqual([]);
});

test("JSON is JSON", () => {
  expect(refused("json", (code) => thrownBy(() => JSON.parse(code)))).toEqual([]);
});

test("TypeScript and JavaScript can be read", () => {
  expect(refused("typescript", (code) => thrownBy(() => stripTypeScriptTypes(code)))).toEqual([]);
});

test.runIf(has("bash", "--version"))("commands can be read by bash", () => {
  // All in one process: each is a function that is never called.
  const whole = inLanguage("bash")
    .map(({ code }, at) => `block_${at}() {\n${code}\n:; }`)
    .join("\n");
  if (saidBy("bash", ["-n"], whole) === undefined) return;
  expect(refused("bash", (code) => saidBy("bash", ["-n"], code))).toEqual([]);
});

test.runIf(has("python3", "--version"))("Python can be read", () => {
  expect(
    refused("python", (code) => saidBy("python3", ["-c", "import ast, sys; ast.parse(sys.stdin.read())"], code)),
  ).toEqual([]);
});

test.runIf(has("php", "--version"))("PHP can be read", () => {
  expect(refused("php", (code) => saidBy("php", ["-l"], code))).toEqual([]);
});

test.runIf(has("go", "version"))("Go can be read", () => {
  expect(refused("go", (code) => saidBy("gofmt", ["-e"], code))).toEqual([]);
});
