// Goal: lines leave in time and all, except those that a slow reader leaves no room for, and these are counted. Method: programs that log to a
// pipe, read at once or late.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { expect, test } from "vitest";
import { WAITING_MAX_BYTES } from "./log-output.ts";

/** More than a pipe takes, on both sides of it. */
const PIPE_BYTES_MAX = 1_048_576;

const fileOf = (name: string): string => JSON.stringify(pathToFileURL(join(import.meta.dirname, name)).href);

/** Starts a program that has `output` and `log`. */
function logging(program: string, stdout: "pipe" | number = "pipe"): ChildProcess {
  const whole = `import { createLog } from ${fileOf("log.ts")};
import { standardOutput } from ${fileOf("log-output.ts")};
const output = standardOutput();
const log = createLog("info", output);
output.sayLost(log);
let lost = 0;
output.onLost(() => lost++);
${program}`;
  return spawn(process.execPath, ["--input-type=module", "--eval", whole], { stdio: ["pipe", stdout, "pipe", "ipc"] });
}

async function linesOf({ stdout }: ChildProcess): Promise<{ msg: string; n?: number; lines?: number }[]> {
  const whole = await text(stdout as NodeJS.ReadableStream);
  return whole
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { msg: string });
}

test.each([
  ["ends by itself", ""],
  ["exits", "process.exit(0);"],
  ["throws", `throw new Error("unexpected");`],
])("a program that %s leaves every line behind", async (_end, program) => {
  const child = logging(`for (let n = 0; n < 100; n++) log.info({ n }, "line"); ${program}`);
  const numbers = (await linesOf(child)).map(({ n }) => n);
  // Lines of the end may stand before those that another thread was writing just then.
  expect(new Set(numbers)).toEqual(new Set(Array.from({ length: 100 }, (_, n) => n)));
  expect(numbers).toHaveLength(100);
});

test("a line leaves while the program goes on", async () => {
  const child = logging(`log.info("alone"); process.stdin.resume();`);
  const [chunk] = (await once(child.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  expect(JSON.parse(String(chunk))).toMatchObject({ msg: "alone" });
  child.kill("SIGKILL");
});

test.skipIf(!existsSync("/dev/full"))("a full disk stops no program, and keeps none from ending", async () => {
  const full = openSync("/dev/full", "w");
  const child = logging(
    `for (let n = 0; n < 20_000; n++) {
  log.info({ n, filling: "x".repeat(1_000) }, "line");
  if (n % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
}
await new Promise((resolve) => setTimeout(resolve, 300));
process.send({ lost });
process.exit(0);`,
    full,
  );
  closeSync(full);
  const exited = once(child, "exit");
  const [{ lost }] = (await once(child, "message")) as [{ lost: number }];
  expect(lost).toBeGreaterThan(10_000);
  expect(await exited).toEqual([0, null]);
});

test("a program whose log nobody reads goes on, keeps 4 MiB of it, and says how many lines it lost once it is read", async () => {
  const written = 20_000;
  const child = logging(`
for (let n = 0; n < ${written}; n++) {
  log.info({ n, filling: "x".repeat(1_000) }, "line");
  if (n % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
}
process.send({ lost });
process.stdin.resume();
process.stdin.on("end", () => process.disconnect());`);
  const [{ lost }] = (await once(child, "message")) as [{ lost: number }];
  // A line has more than a thousand bytes.
  expect((written - lost) * 1_000).toBeLessThan(WAITING_MAX_BYTES + PIPE_BYTES_MAX);
  const reading = linesOf(child);
  setTimeout(() => child.stdin?.end(), 1_000); // the reader has to catch up first
  const lines = await reading;
  const kept = lines.filter(({ msg }) => msg === "line");
  expect(kept.map(({ n }) => n)).toEqual(Array.from({ length: written - lost }, (_, n) => n));
  expect(lines.filter(({ msg }) => msg.startsWith("lines of the log were lost"))).toMatchObject([{ lines: lost }]);
});
