// Goal: CPU time that was used is counted once, whoever used it and whether it still runs. Method: children that use a known
// time, one that stays and one that ends.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { cpuBetween, cpuOfEach, cpuOfFamily, cpuOfProcess, cpuSum } from "./cpu.ts";

const BURNT_US = 300_000;
/** Uses so much CPU time, says so, and ends when it is told to by the end of its input. */
const burner = `const used = () => { const { user, system } = process.cpuUsage(); return user + system; };
while (used() < ${BURNT_US});
process.stdout.write("burnt");
process.stdin.resume();`;

async function burnt(): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["-e", burner]);
  await once(child.stdout, "data");
  return child;
}

test.runIf(existsSync("/proc/self/stat"))("children count while they run, and once when they have ended", async () => {
  const before = cpuOfFamily(process.pid) as number;
  const child = await burnt();
  const alone = cpuOfProcess(child.pid as number) as number;
  expect(alone).toBeGreaterThanOrEqual(BURNT_US * 0.9);
  const running = (cpuOfFamily(process.pid) as number) - before;
  expect(running).toBeGreaterThanOrEqual(BURNT_US * 0.9);
  const own = cpuOfProcess(process.pid) as number;
  child.stdin?.end();
  await once(child, "close");
  const ended = (cpuOfFamily(process.pid) as number) - before;
  const ownMeanwhile = (cpuOfProcess(process.pid) as number) - own;
  expect(ended).toBeGreaterThanOrEqual(running - 20_000);
  expect(ended).toBeLessThan(running + ownMeanwhile + BURNT_US * 0.8);
});

test("what cannot be read is left out, not taken for nothing", () => {
  expect(cpuOfProcess(2 ** 30)).toBeUndefined();
  expect(cpuOfFamily(2 ** 30)).toBeUndefined();
  const some = { service: 900, postgres: 500 };
  expect(cpuBetween(undefined, some)).toBeUndefined();
  expect(cpuBetween({ service: 100, postgres: 200 }, some)).toEqual({ service: 800, postgres: 300 });
  expect(cpuSum([some, undefined])).toBeUndefined();
  expect(cpuSum([some, some])).toEqual({ service: 1_800, postgres: 1_000 });
  expect(cpuOfEach(some, 7)).toEqual({ service: 129, postgres: 71 });
  expect(cpuOfEach(undefined, 7)).toBeUndefined();
});
