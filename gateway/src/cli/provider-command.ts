// The commands about one provider: they check its keys, and whether it may be trusted with money.
import { acquirersFileOf, readConfigAndAcquirers } from "./acquirers-of-config.ts";
import { UsageError } from "./command.ts";
import { say } from "./say.ts";
import type { AcquirerCalls } from "../acquirers/acquirer.ts";
import { ConfigError } from "../ground/config.ts";
import { examine } from "../providers/exam/exam.ts";
import type { OpenAcquirer } from "../providers/profile.ts";

/** Clocks that differ by more than this make signatures fail. */
const CLOCK_MS = 60_000;

/** The acquirer with this code, which the caller has to close. Throws `ConfigError` when there is none. */
async function acquirerOf(code: string): Promise<OpenAcquirer & { calls: AcquirerCalls }> {
  const { config, acquirers } = readConfigAndAcquirers();
  const found = acquirers.find((acquirer) => acquirer.code === code);
  await Promise.all(acquirers.filter((acquirer) => acquirer !== found).map((other) => other.close()));
  if (!found?.calls) {
    const codes = acquirers.map((acquirer) => acquirer.code);
    const there = codes.length === 0 ? "it names none, or does not exist" : `it names ${codes.join(", ")}`;
    throw new ConfigError(`${acquirersFileOf(config)} has no ${code}: ${there}.`);
  }
  return { ...found, calls: found.calls };
}

/** Prints one line for each finding. Returns 0 when everything works. */
export async function checkCommand({ code }: { code: string }): Promise<number> {
  const acquirer = await acquirerOf(code);
  try {
    const { calls, name, environment, capabilities } = acquirer;
    say(`${name} (${code}), ${environment}: ${[...new Set(capabilities.map(({ method }) => method))].join(", ")}`);
    if (!calls.check) {
      say("It has no harmless call to try: its first payment shows whether the keys are right.");
      return 0;
    }
    const { findings, clockDifferenceMs } = await calls.check(AbortSignal.timeout(calls.deadlineMs));
    for (const { well, text } of findings) say(`${well ? "✓" : "✗"} ${text}`);
    const clockWell = clockDifferenceMs === undefined || Math.abs(clockDifferenceMs) < CLOCK_MS;
    if (clockDifferenceMs !== undefined) {
      const seconds = (Math.abs(clockDifferenceMs) / 1000).toFixed(1);
      const side = clockDifferenceMs >= 0 ? "ahead of" : "behind";
      say(
        `${clockWell ? "✓" : "✗"} its clock is ${seconds} s ${side} ours${clockWell ? "" : ": synchronise this machine's"}`,
      );
    }
    return clockWell && findings.every(({ well }) => well) ? 0 : 1;
  } catch (error) {
    say(`✗ ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  } finally {
    await acquirer.close();
  }
}

/** Prints one line for each case. Returns 0 when none failed. */
export async function examCommand({ code, sandbox }: { code: string; sandbox: boolean }): Promise<number> {
  if (!sandbox) throw new UsageError("it orders payments at the provider's own sandbox: say so with --sandbox");
  const acquirer = await acquirerOf(code);
  if (acquirer.environment !== "sandbox") {
    await acquirer.close();
    throw new ConfigError(
      `${code} is an acquirer of ${acquirer.environment}: the exam orders payments, so it is for the sandbox.`,
    );
  }
  const signs = { passed: "✓", failed: "✗", "not applicable": "–" } as const;
  const marks = await examine(
    () => Promise.resolve({ acquirer, close: () => acquirer.close() }),
    ({ name, mark, why }) => say(`${signs[mark]} ${name}${why === undefined ? "" : ` (${why})`}`),
  );
  const failed = marks.filter(({ mark }) => mark === "failed").length;
  say(`${marks.length} cases, ${failed} failed.`);
  return failed === 0 ? 0 : 1;
}
