// Runs the commands `clock show`, `clock advance`, `doctor` and `exam`.
import { UsageError } from "../../gateway/src/cli/command.ts";
import type { Scorecard } from "../../sdk/src/types.ts";
import type { Change, Common } from "./common.ts";
import { clientOf, identityOf } from "./identity.ts";
import { intent } from "./intent.ts";
import { paintOf } from "./output/color.ts";
import { printObject, printTable, say, write } from "./output/print.ts";
import type { Column } from "./output/table.ts";
import { type Printable, gistOf, linesOf, words } from "./output/text.ts";

export async function showClock(values: Common): Promise<number> {
  return printObject(await clientOf(values).sandbox.clock.get(), values);
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Converts `90`, `15m`, `12h` or `3d` to seconds. Throws `UsageError` for anything else. */
export function secondsOf(time: string): number {
  const [, digits = "", unit = ""] = /^([1-9]\d{0,8})([smhd]?)$/.exec(time) ?? [];
  if (digits === "")
    throw new UsageError(`${JSON.stringify(time)} is not a length of time, such as 90, 15m, 12h or 3d`);
  return Number(digits) * (units[unit || "s"] ?? 1);
}

export async function advanceClock(values: Change, time: string): Promise<number> {
  const seconds = secondsOf(time);
  const options = intent(values);
  return printObject(await clientOf(values).sandbox.clock.advance(seconds, options), values);
}

export async function diagnose(values: Common, id: string): Promise<number> {
  const found = await clientOf(values).sandbox.requests.doctor(id);
  if (values.json) return printObject(found, values);
  const { diagnosis, explanation, subject, signature_base: base } = found;
  const about = subject === undefined ? "" : ` (${subject})`;
  write(words`${paintOf(process.stdout)("bold", diagnosis)}${about}\n${explanation}\n`);
  if (base !== undefined) write(words`What should have been signed:\n${linesOf(base)}\n`);
  return 0;
}

type Check = Scorecard["checks"][number];

/** `docs` begins the addresses of the pages that the service quotes. */
const columnsOf = (docs: string): readonly Column<Check>[] => [
  { head: "", cell: ({ passed }) => (passed ? "ok" : "FAILED"), tone: ({ passed }) => (passed ? "good" : "bad") },
  { head: "CHECK", cell: ({ name }) => name },
  {
    head: "ANSWER",
    cell: ({ received: { status, reason } }) => (status === null ? (reason ?? "none") : String(status)),
  },
  { head: "WHAT TO DO", cell: ({ passed, guide }) => (passed ? "" : guide.replace("(/docs/", `(${docs}`)) },
];

export async function examine(values: Change): Promise<number> {
  const card = await clientOf(values).sandbox.webhook.exam({
    ...intent(values),
    deadlineMs: 300_000,
  });
  const docs = identityOf(values).baseUrl.replace(/v1$/, "docs/");
  const failed = card.checks.filter(({ passed }) => !passed).length;
  const [reason, ...others] = new Set(
    card.checks.map(({ received }) => (received.status === null ? received.reason : null)),
  );
  if (values.json) printObject(card, values);
  else if (reason && others.length === 0)
    say(
      words`Your receiver answered no request of the exam: ${reason} What to do: ${docs}troubleshooting#a-webhook-never-arrives`,
    );
  else {
    printTable(columnsOf(docs), card.checks);
    say(
      failed === 0
        ? words`Your receiver passed every check.`
        : words`${failed} of ${card.checks.length} checks failed.`,
    );
    const cause = commonCauseOf(card.checks);
    if (cause !== undefined) say(cause);
  }
  return card.passed ? 0 : 1;
}

/**
 * What to mend first, where every genuine request was refused in the same way: what the lines of the checks say to do does not mend that. Forged
 * requests may have been refused in another way.
 */
function commonCauseOf(checks: readonly Check[]): Printable | undefined {
  const failed = checks.filter(({ passed }) => !passed);
  const [status, ...others] = new Set(failed.map(({ received }) => received.status));
  const genuine = failed.find(({ name }) => name === "accepts_genuine");
  if (!genuine || typeof status !== "number" || others.length > 0 || (status >= 200 && status < 300)) return undefined;
  const { headers, body } = genuine.received;
  const said = gistOf(body ?? "");
  return words`Every genuine request was answered ${status}. Mend that first: ${causeOf(status, headers?.["location"])}${said === "" ? "" : ` It said: ${said}`}`;
}

function causeOf(status: number, location: string | undefined): string {
  if (location !== undefined)
    return `it redirects to ${location}, and no redirect is followed. Register the address that it leads to.`;
  if (status === 401 || status === 403)
    return "it verifies with another secret, or verifies a body that was parsed and written again, or something in front of your program refuses the requests.";
  if (status === 404) return "your program serves another path, or something in front of it answers.";
  return "your program failed, and its log says at what, or something in front of it answers.";
}
