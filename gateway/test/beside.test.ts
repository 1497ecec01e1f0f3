// Goal: what runs beside the tests is heard whole, and what fails fails the whole run. Method: small programs in place of the checks.
import { expect, test } from "vitest";
import { runBeside } from "./beside.ts";

/** A program as a command line. */
const node = (text: string): string => `"${process.execPath}" -e '${text}'`;

const well = node("");
/** Far longer than a test may take: it has to be ended. */
const endless = node("setTimeout(() => undefined, 600_000)");

async function run(line: string, checks: string[]): Promise<{ code: number; said: string[] }> {
  const said: string[] = [];
  return { code: await runBeside(line, checks, (text) => said.push(text)), said };
}

test("all are run where all are well, and each one's output comes whole", async () => {
  const loud = node(
    'process.stdout.write("one "); process.stderr.write("two"); setTimeout(() => console.log(" three"), 500)',
  );
  const { code, said } = await run(well, [loud, well]);
  expect(code).toBe(0);
  expect(said).toEqual([`\n${loud}: passed\none two three\n`, `\n${well}: passed\n`]);
});

test("a check that fails ends what runs and begins no other one, and its exit code is that of all", async () => {
  const failing = node('console.log("a fault"); process.exitCode = 3');
  const { code, said } = await run(endless, [well, failing, endless]);
  expect(code).toBe(3);
  expect(said).toEqual([`\n${well}: passed\n`, `\n${failing}: failed (3)\na fault\n`]);
});

test("tests that fail end the checks, which say nothing then", async () => {
  expect(await run(node("process.exitCode = 1"), [endless])).toEqual({ code: 1, said: [] });
});

test("what a signal ends, and what is no program, has failed", async () => {
  expect((await run(well, [node('process.kill(process.pid, "SIGKILL")')])).code).toBe(1);
  expect((await run(well, ["no-such-program 2>/dev/null"])).code).toBe(127);
});
