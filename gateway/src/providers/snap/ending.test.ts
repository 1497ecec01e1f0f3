// Goal: a payment has ended only where they say so, by their answer or by their status. Method: each answer to the deletion with each status,
// from a client that is a list of answers.
import { expect, test } from "vitest";
import { briPartner, dokuPartner, openRequest } from "../../../test/snap-rig.ts";
import { AcquirerRefused, type OpenRequest } from "../../acquirers/acquirer.ts";
import type { SnapAnswer } from "./client.ts";
import { endPayment } from "./ending.ts";
import type { Meaning } from "./errors.ts";
import type { Partner } from "./partner.ts";
import type { SnapRequest } from "./requests.ts";

const never = { signal: new AbortController().signal, record: undefined };
const fields = { partnerServiceId: "   77777", customerNo: "1234567890123", virtualAccountNo: "   777771234567890123" };
const other = { ...fields, customerNo: "1234567890124", virtualAccountNo: "   777771234567890124" };
const providerIds = { account: "777771234567890123", service: "77777", customer: "1234567890123", bank: "bri" };
const said = (meaning: Meaning, body: SnapAnswer["body"] = {}): SnapAnswer => ({ meaning, body, said: meaning });
const deleted = said("done", { virtualAccountData: fields });
const stands = (paidStatus: string): SnapAnswer =>
  said("done", { virtualAccountData: fields, additionalInfo: { paidStatus } });
const [waiting, paid, gone] = [stands("N"), stands("Y"), said("not found")];

/** How the call ended, and which services were called. */
async function ended(
  answers: readonly (SnapAnswer | Error)[],
  changes: Partial<OpenRequest> = {},
  partner: Partner = briPartner(),
): Promise<{ how: "ended" | "refused" | "unknown"; sent: SnapRequest["service"][]; why: string }> {
  const left = [...answers];
  const sent: SnapRequest["service"][] = [];
  const call = async ({ service }: SnapRequest): Promise<SnapAnswer> => {
    sent.push(service);
    const next = left.shift();
    if (next === undefined) throw new Error("nothing is left to answer");
    if (next instanceof Error) throw next;
    return next;
  };
  const request = openRequest({ providerIds, ...changes });
  const failed = await endPayment({ client: { call }, partner, methods: [] }, request, never).then(
    () => undefined,
    (error: unknown) => error,
  );
  const how = failed === undefined ? "ended" : failed instanceof AcquirerRefused ? "refused" : "unknown";
  return { how, sent, why: failed instanceof Error ? failed.message : "" };
}

test.for<[string, (SnapAnswer | Error)[], string]>([
  ["their yes", [deleted], "ended"],
  ["a yes about another account", [said("done", { virtualAccountData: other })], "unknown"],
  ["a yes about nothing", [said("done")], "unknown"],
  ["not found, and gone", [gone, gone], "ended"],
  ["not found, and waiting", [gone, waiting], "unknown"],
  ["not found, and paid", [gone, paid], "unknown"],
  ["not found, and a status that is unclear", [gone, said("unknown")], "unknown"],
  ["not found, and the status of another account", [gone, said("done", { virtualAccountData: other })], "unknown"],
  ["a no, and waiting", [said("refused"), waiting], "refused"],
  ["a no, and paid", [said("refused"), paid], "unknown"],
  ["a no, and gone", [said("refused"), gone], "ended"],
  ["a no, and no status", [said("refused"), new Error("no answer")], "unknown"],
  ["taken, and not decided", [said("in progress")], "unknown"],
  ["an external id that was used", [said("repeated")], "unknown"],
  ["a token that is not taken", [said("token")], "unknown"],
  ["not now", [said("unavailable")], "unknown"],
  ["what nobody understands, such as paid", [said("unknown")], "unknown"],
  ["no answer", [new Error("the deadline has passed")], "unknown"],
  ["no token, so that nothing was sent", [new AcquirerRefused("no token", { unavailable: true })], "unknown"],
])("a deletion that is answered with %s", async ([, answers, how]) => {
  const { sent, ...was } = await ended(answers);
  expect(was.how).toBe(how);
  expect(sent).toEqual(["deleteVa", "vaStatus"].slice(0, answers.length));
});

test.for(["qris", "ewallet", "card"] as const)("a payment by %s is not ended, and nothing is sent", async (method) => {
  const was = await ended([], { method, providerIds: undefined });
  expect(was).toMatchObject({ how: "refused", sent: [], why: expect.stringContaining("before its time") });
});

test("an account that is asked a bill for needs no call, since the bill says that it is not payable", async () => {
  const ids = { account: "84923123", service: "8492", customer: "3123", bank: "bni", bill: "pay-1" };
  expect(await ended([], { providerIds: ids }, dokuPartner())).toMatchObject({ how: "ended", sent: [] });
});

test.for([
  ["at BRI, whose number follows from our key", briPartner(), "bri"],
  ["at a bank that DOKU numbers for", dokuPartner(), "bca"],
] as const)("an account that no answer has told is not ended %s", async ([, partner, bank]) => {
  for (const ids of [{ bank }, undefined])
    expect(await ended([], { providerIds: ids }, partner)).toMatchObject({ how: "unknown", sent: [] });
});
