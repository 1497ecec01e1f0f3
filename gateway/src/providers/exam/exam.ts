// The provider exam: the cases that decide whether a connector may be trusted with money, and the scorecard of their results.
import { Bench, type ExamCase, Failed, NotApplicable, type Subject } from "./bench.ts";
import { cancellingCases } from "./cases.cancelling.ts";
import { disputeCases } from "./cases.disputes.ts";
import { openingCases } from "./cases.opening.ts";
import { payingCases } from "./cases.paying.ts";
import { refundCases } from "./cases.refunds.ts";

export interface Mark {
  name: string;
  mark: "passed" | "failed" | "not applicable";
  /** Reason why the case was not passed. */
  why?: string;
}

export const examCases: readonly ExamCase[] = [
  ...openingCases,
  ...payingCases,
  ...cancellingCases,
  ...disputeCases,
  ...refundCases,
];

/** Pause between two cases at a provider's own sandbox. */
const GENTLE_PAUSE_MS = 1_000;

/**
 * Examines one subject. `open` gets the address at which the exam listens for notifications. A subject without control gets only the gentle
 * cases, one a second. `onMark` receives each mark as soon as it is made. Rethrows what a case throws, unless it is a failure of the subject.
 */
export async function examine(
  open: (callbackUrl: string) => Promise<Subject>,
  onMark: (mark: Mark) => void = () => undefined,
): Promise<Mark[]> {
  const bench = new Bench();
  const marks: Mark[] = [];
  try {
    await bench.start(open);
    for (const one of examCases) {
      if (!bench.isFake && one.gentle !== true) continue;
      const mark = await sit(one, bench);
      marks.push(mark);
      onMark(mark);
      if (!bench.isFake) await new Promise((resolve) => setTimeout(resolve, GENTLE_PAUSE_MS));
    }
  } finally {
    await bench.close();
  }
  return marks;
}

async function sit(one: ExamCase, bench: Bench): Promise<Mark> {
  const { name } = one;
  try {
    await one.run(bench);
    return { name, mark: "passed" };
  } catch (error) {
    if (error instanceof NotApplicable) return { name, mark: "not applicable", why: error.message };
    if (error instanceof Failed) return { name, mark: "failed", why: error.message };
    throw error;
  }
}

/** A scorecard as a Markdown table: one line for each case, one column for each subject. */
export function scorecard(subjects: Readonly<Record<string, readonly Mark[]>>): string {
  const names = Object.keys(subjects);
  const signs = { passed: "passed", failed: "**failed**", "not applicable": "–" } as const;
  const lines = examCases.map(({ name }) => {
    const marks = names.map((subject) => subjects[subject]?.find((mark) => mark.name === name)?.mark);
    return `| ${[name, ...marks.map((mark) => (mark ? signs[mark] : " "))].join(" | ")} |`;
  });
  return [`| case | ${names.join(" | ")} |`, `|---|${names.map(() => "---|").join("")}`, ...lines].join("\n");
}
