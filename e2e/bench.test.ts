// Goal: the benchmark says what it promises to machines, and is honest about a run. Method: the shortest run there is, as a person
// would start it; how fast it was is nobody's business here.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const program = fileURLToPath(new URL("../bench/main.ts", import.meta.url));

async function bench(...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { code, stdout, stderr };
}

test("one object a case on standard output, with every figure, no failed request and a clean book", async () => {
  const { code, stdout } = await bench("create", "--seconds", "0.6", "--json");
  expect(code).toBe(0);
  const result = JSON.parse(stdout) as Record<string, unknown>;
  expect(result).toMatchObject({ case: "create", errors: 0, verified: true, aim: 1.4 });
  for (const figure of ["rate_per_s", "baseline_per_s", "ratio", "p50_ms", "p99_ms", "memory_mib"]) {
    expect(result[figure], figure).toBeGreaterThan(0);
  }
  const measured = existsSync("/proc/self/stat")
    ? { service: expect.any(Number), postgres: expect.any(Number) }
    : undefined;
  expect(result.cpu_us).toEqual(measured);
});

test("what it does not know it says, with what there is", async () => {
  const { code, stdout, stderr } = await bench("speed");
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("There is no case speed. Cases: ");
  expect((await bench("create", "--seconds", "soon")).stderr).toContain("numbers above 0");
  expect((await bench("create", "--processes", "1.5")).stderr).toContain("--processes is one");
});
