// The provider exam: the cases that decide whether a connector may be trusted with money, and the scorecard that they make.
import { Bench, type ExamCase, Failed, NotApplicable, type Subject } from "./bench.ts";
import { cancellingCases } from "./cases.cancelling.ts";
import { disputeCases } from "./cases.disputes.ts";
import { openingCases } from "./cases.opening.ts";
import { payingCases } from "./cases.paying.ts";
import { refundCases } from "./cases.refunds.ts";

export interface Mark {
  name: string;
  mark: "passed" | "failed" | "not applicable";
  /** Why it is not passed. */
  why?: string;
}

export const examCases: readonly ExamCase[] = [
  ...openingCases,
  ...payingCases,
  ...cancellingCases,
  ...disputeCases,
  ...refundCases,
];

/** Between two cases at a provider's own sandbox. */
const GENTLE_PAUSE_MS = 1_000;

/**
 * Examines one subject. `open` gets the address at which the exam listens for its notifications. A subject without control sits only the
 * gentle cases, one a second. `onMark` hears each mark as it is made. What a case throws that is no failure of the subject is thrown on.
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

/** A scorecard as a table of Markdown: a line a case, a column a subject. */
export function scorecard(subjects: Readonly<Record<string, readonly Mark[]>>): string {
  const names = Object.keys(subjects);
  const signs = { passed: "passed", failed: "**failed**", "not applicable": "–" } as const;
  const lines = examCases.map(({ name }) => {
    const marks = names.map((subject) => subjects[subject]?.find((mark) => mark.name === name)?.mark);
    return `| ${[name, ...marks.map((mark) => (mark ? signs[mark] : " "))].join(" | ")} |`;
  });
  return [`| case | ${names.join(" | ")} |`, `|---|${names.map(() => "---|").join("")}`, ...lines].join("\n");
}
