// Goal: whoever reads a line of the log that needs a person finds what to do. Method: the messages of that level in the source, beside the guide.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL(".", import.meta.url));
const guide = readFileSync(join(root, "../../docs/guides/observability.md"), "utf8");

test("the guide says what to do about each line of the levels error and fatal", () => {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) =>
    /(?<!\.test)\.ts$/.test(name),
  );
  const messages = files.flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(/\blog\.(?:error|fatal)\([^;]*?"([^"]+)"\)/g)].map(
      ([, message = ""]) => message,
    ),
  );
  expect(messages.length).toBeGreaterThan(8);
  expect(messages.filter((message) => !guide.includes(`\`${message}\``))).toEqual([]);
});
