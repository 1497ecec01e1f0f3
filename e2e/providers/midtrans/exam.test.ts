// Goal: the exam finds a connector that believes what anybody may write into a notification of a dispute. Method: it sits the cases with its
// question to Midtrans taken out, and with one that is never answered with yes.
import { expect, test } from "vitest";
import type { AcquirerCalls } from "../../../gateway/src/acquirers/acquirer.ts";
import { Bench, Failed, NotApplicable } from "../../../gateway/src/providers/exam/bench.ts";
import { disputeCases } from "../../../gateway/src/providers/exam/cases.disputes.ts";
import { midtransSubject } from "./subject.ts";

const [isTold, isProven] = disputeCases;

test.each<[string, Partial<AcquirerCalls>, typeof isTold, string | undefined]>([
  ["asks", {}, isProven, undefined],
  ["believes every word", { confirmDispute: () => Promise.resolve(true) }, isProven, "was believed"],
  ["believes no word", { confirmDispute: () => Promise.resolve(false) }, isTold, "counts for nothing"],
  ["gets no answer", { confirmDispute: () => Promise.reject(new Error("none")) }, isTold, "counts for nothing"],
])("what the exam makes of a connector that %s", async (_, lie, one, failure) => {
  const bench = new Bench();
  await bench.start(async (callbackUrl) => {
    const subject = await midtransSubject(callbackUrl);
    return { ...subject, acquirer: { ...subject.acquirer, calls: { ...subject.acquirer.calls, ...lie } } };
  });
  try {
    const ended = await one?.run(bench).catch((error: unknown) => error);
    if (failure === undefined) expect(ended).toBeUndefined();
    else {
      expect(ended).toBeInstanceOf(Failed);
      expect(String(ended)).toContain(failure);
    }
  } finally {
    await bench.close();
  }
});

test("the beginning of a dispute is held, and its end is told nowhere", async () => {
  const bench = new Bench();
  await bench.start((callbackUrl) => midtransSubject(callbackUrl));
  try {
    await expect(isTold?.run(bench)).rejects.toThrow(NotApplicable);
  } finally {
    await bench.close();
  }
});
