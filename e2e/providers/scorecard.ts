// Runs the provider exam for every connector against its fake, and writes the marks into the page that keeps them (`npm run scorecard`).
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { simulatorSubject } from "../../gateway/test/simulator-subject.ts";
import type { Subject } from "../../gateway/src/providers/exam/bench.ts";
import { type Mark, examine, scorecard } from "../../gateway/src/providers/exam/exam.ts";
import { midtransSubject } from "./midtrans/subject.ts";
import { snapSubject } from "./snap/subject.ts";
import { stripeSubject } from "./stripe/subject.ts";
import { xenditSubject } from "./xendit/subject.ts";

/** The examined connectors, by their names in the table. */
export const subjects: Readonly<Record<string, (callbackUrl: string) => Promise<Subject>>> = {
  simulator: simulatorSubject,
  Midtrans: (callbackUrl) => midtransSubject(callbackUrl),
  Xendit: xenditSubject,
  "SNAP (DOKU)": snapSubject("doku"),
  "SNAP (BRI)": snapSubject("bri"),
  Stripe: stripeSubject,
};

export const page = fileURLToPath(new URL("../../docs/guides/provider-exam.md", import.meta.url));
const BEGIN = "<!-- marks -->\n";
const END = "<!-- end of marks -->";

/** The marks of all subjects, each in the order of the cases. */
export async function allMarks(): Promise<Record<string, Mark[]>> {
  const marks = await Promise.all(
    Object.entries(subjects).map(async ([name, open]) => [name, await examine(open)] as const),
  );
  return Object.fromEntries(marks);
}

/** The page's text with these marks in place of the previous ones. */
export function withMarks(text: string, marks: Readonly<Record<string, readonly Mark[]>>): string {
  const [before = "", rest = ""] = text.split(BEGIN);
  const after = rest.split(END)[1] ?? "";
  const reasons = Object.entries(marks).flatMap(([subject, all]) =>
    all.flatMap(({ name, mark, why }) => (mark === "passed" ? [] : [`- ${subject}, “${name}”: ${why ?? mark}`])),
  );
  return `${before}${BEGIN}\n${scorecard(marks)}\n\nWhere a case says nothing of a provider:\n\n${reasons.join("\n")}\n\n${END}${after}`;
}

if (import.meta.main) {
  const marks = await allMarks();
  writeFileSync(page, withMarks(readFileSync(page, "utf8"), marks));
  for (const [name, all] of Object.entries(marks)) {
    const count = (wanted: string): number => all.filter(({ mark }) => mark === wanted).length;
    console.log(
      `${name}: ${count("passed")} passed, ${count("failed")} failed, ${count("not applicable")} not applicable`,
    );
    for (const { name: of, mark, why } of all) if (mark === "failed") console.log(`  ✗ ${of}: ${why ?? ""}`);
  }
}
