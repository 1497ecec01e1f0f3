// Goal: what counts for an acquirer's health is the opening of payments at remote acquirers, and nothing else is held back by it; what one call
// keeps is bounded. Method: calls whose outcome the test makes, and the circuit afterwards.
import { expect, test } from "vitest";
import { NOW } from "../../test/given.ts";
import { callParts, movableClock } from "../../test/acquiring.ts";
import { scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import { AcquirerRefused } from "../acquirers/acquirer.ts";
import { OtherMoney } from "../acquirers/other-money.ts";
import { SECOND } from "../ground/clock.ts";
import { callAcquirer } from "./calls.ts";

const kawah = { ...scriptedAcquirer("kawah"), remote: true };
const METHOD = "qris";
const lease = { dueAt: NOW + 60 * SECOND };
const fails = (error: Error) => async (): Promise<never> => {
  throw error;
};
const down = fails(new AcquirerRefused("not now", { unavailable: true }));

test.each([
  ["an answer", () => Promise.resolve(), { calls: 1, failures: 0 }],
  ["a refusal of one payment", fails(new AcquirerRefused("no")), { calls: 1, failures: 0 }],
  ["a refusal of everything", down, { calls: 1, failures: 1 }],
  ["no answer", fails(new Error("no answer")), { calls: 1, failures: 1 }],
])("%s to a call that opens a payment counts", async (_what, work, expected) => {
  const parts = callParts(movableClock());
  await callAcquirer(parts, { acquirer: kawah, method: METHOD, call: "open", lease }, work);
  expect(parts.circuits.of("kawah", METHOD).count(NOW)).toEqual(expected);
});

test.each(["inquire", "cancel", "judge", "refund", "inquire_refund", "submit_evidence"] as const)(
  "%s neither counts nor is held back",
  async (call) => {
    const parts = callParts(movableClock());
    const name = { acquirer: kawah, method: METHOD } as const;
    for (let time = 0; time < 5; time++) await callAcquirer(parts, { ...name, call, lease }, down);
    expect(parts.circuits.of("kawah", METHOD).count(NOW)).toEqual({ calls: 0, failures: 0 });
    for (let time = 0; time < 5; time++) await callAcquirer(parts, { ...name, call: "open", lease }, down);
    const works = () => Promise.resolve("done");
    expect(await callAcquirer(parts, { ...name, call: "open", lease }, works)).toMatchObject({
      kind: "refused",
      unavailable: true,
    });
    expect(await callAcquirer(parts, { ...name, call, lease }, works)).toEqual({ kind: "answered", answer: "done" });
  },
);

test("a simulated acquirer has no health", async () => {
  const parts = callParts(movableClock());
  const name = { acquirer: { ...kawah, remote: false }, method: METHOD, call: "open", lease } as const;
  for (let time = 0; time < 6; time++) await callAcquirer(parts, name, down);
  expect(parts.circuits.of("kawah", METHOD).count(NOW)).toEqual({ calls: 0, failures: 0 });
});

test("of a call that exchanges without end sixteen messages are kept, and why its answer was not believed", async () => {
  const parts = callParts(movableClock());
  const outcome = await callAcquirer(
    parts,
    { acquirer: kawah, method: METHOD, call: "inquire" },
    (_calls, _signal, record) => {
      for (let one = 1; one <= 20; one++) record({ about: `GET /${one}`, status: 200, text: "" });
      return Promise.reject(new OtherMoney("it was 1.00"));
    },
  );
  const kept = outcome.exchanged?.messages.map(({ about }) => about);
  expect([kept?.length, kept?.[15], kept?.[16]]).toEqual([17, "GET /16", "inquire, not believed"]);
});
