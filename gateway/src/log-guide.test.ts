// Goal: whoever reads a line of the log that needs a person finds what to do. Method: the messages of that level in the source, beside the guide.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL(".", import.meta.url));
const guide = readFileSync(join(root, "../../docs/guides/observability.md"), "utf8");

const sources = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((name) => /(?<!\.test)\.ts$/.test(name))
  .map((file) => readFileSync(join(root, file), "utf8"));
const messagesAt = (levels: string): string[] =>
  sources.flatMap((source) =>
    [...source.matchAll(new RegExp(`\\blog\\.(?:${levels})\\([^;]*?"([^"]+)"[,\\s]*\\)`, "g"))].map(
      ([, message = ""]) => message,
    ),
  );
const isTold = (message: string): boolean => guide.includes(`\`${message}\``);

test("the guide says what to do about each line of the levels error and fatal", () => {
  const messages = messagesAt("error|fatal");
  expect(messages.length).toBeGreaterThan(8);
  expect(messages.filter((message) => !isTold(message))).toEqual([]);
});

test("a warning that the guide leaves out says that something was left out, or is tried again", () => {
  const messages = messagesAt("warn");
  expect(messages.length).toBeGreaterThan(30);
  const plain = /\b(could not|cannot|was not|were not|failed|again|the lease|left to the sweep)\b/;
  expect(messages.filter((message) => !isTold(message) && !plain.test(message))).toEqual([]);
  for (const message of ["a letter was not taken by the mail server", "traces could not be sent"])
    expect([message, messages.includes(message), isTold(message)]).toEqual([message, true, true]);
});

test("each line that the guide explains is one of the service", () => {
  const table = guide.slice(guide.indexOf("| words | do |"), guide.indexOf("## Metrics"));
  const told = [...table.matchAll(/^\|([^|]*)\|/gm)].flatMap(([, words = ""]) => [...words.matchAll(/`([^`]+)`/g)]);
  expect(told.length).toBeGreaterThan(20);
  const all = sources.join("\n");
  const levels = new Set(["error", "warn"]);
  expect(told.map(([, line = ""]) => line).filter((line) => !levels.has(line) && !all.includes(line))).toEqual([]);
});
