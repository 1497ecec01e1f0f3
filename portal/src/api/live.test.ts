// Goal: what a page shows is as new as the last event, however slow its answers are. Method: the query library with answers that come when the test says.
import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { askAgain } from "./live.ts";

const place = { merchant: "mer_1", environment: "sandbox" } as const;

/** A question that a page asks, and each of its answers. */
function asked(path: string, of = place) {
  const queries = new QueryClient();
  const answers: ((answer: string) => void)[] = [];
  const observer = new QueryObserver(queries, {
    queryKey: [of.merchant, of.environment, path],
    queryFn: () => new Promise<string>((resolve) => void answers.push(resolve)),
    retry: false,
  });
  observer.subscribe(() => undefined);
  return { queries, answers, shown: () => observer.getCurrentResult().data };
}

test("an event during the first question has it asked once more, since the answer may be older", async () => {
  const { queries, answers, shown } = asked("/v1/payments");
  const again = askAgain(queries, { place }, ["/v1/payments"]);
  expect(answers).toHaveLength(1);
  answers[0]?.("before the event");
  await expect.poll(() => answers.length).toBe(2);
  expect(shown()).toBe("before the event");
  answers[1]?.("after the event");
  await again;
  expect([answers.length, shown()]).toEqual([2, "after the event"]);
});

test("an event during a later question has that one cut off, and asked anew, once", async () => {
  const { queries, answers, shown } = asked("/v1/payments");
  answers[0]?.("first");
  await expect.poll(shown).toBe("first");
  const before = askAgain(queries, { place }, ["/v1/payments"]);
  const again = askAgain(queries, { place }, ["/v1/payments"]);
  answers[1]?.("older");
  answers[2]?.("newer");
  await Promise.all([before, again]);
  expect([answers.length, shown()]).toEqual([3, "newer"]);
});

test.each([
  ["another path", "/v1/refunds", place],
  ["another merchant", "/v1/payments", { ...place, merchant: "mer_2" }],
] as const)("a question about %s is not asked again", async (_what, path, of) => {
  const { queries, answers } = asked(path, of as typeof place);
  await askAgain(queries, { place }, ["/v1/payments"]);
  answers[0]?.("first");
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(answers).toHaveLength(1);
});
