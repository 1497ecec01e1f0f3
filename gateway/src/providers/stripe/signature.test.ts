// Goal: only what Stripe has signed lately is read. Method: headers that the official client (stripe 23.1.0) made, and one change at a time.
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { SECOND } from "../../ground/clock.ts";
import { Fault } from "../../ground/fault.ts";
import { checkSignature } from "./signature.ts";

/** `stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp })`. */
const made = [
  [
    '{"id":"evt_1","object":"event"}',
    "whsec_first",
    1_795_000_000,
    "abb44e5a9ddf7b1272ce9dcebfd6d46a707ac01b550be908c6e631688e41ca80",
  ],
  [
    '{"id":"evt_2","object":"event","note":"é Rp 1.500 ✓"}',
    "whsec_second",
    1_795_000_300,
    "2408c9140eac3161bb7652d9d84d27324273ab7ff9866417f3255de4ae817f3b",
  ],
  ["{}", "whsec_third", 1, "07564c7027a37be4509d977f57cff98dc11b9eb1e34d87c2f75ae324ad3fa4e1"],
] as const;
const [[BODY, SECRET, AT, V1]] = made;

function outcome(
  header: string | string[] | undefined,
  { body = BODY, secrets = [SECRET], at = AT }: { body?: string; secrets?: string[]; at?: number } = {},
) {
  try {
    checkSignature(header, Buffer.from(body), secrets, at * SECOND);
    return "good";
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.code;
  }
}

test.each(made)("what the official client signs is good: %s", (body, secret, at, v1) => {
  expect(outcome(`t=${at},v1=${v1}`, { body, secrets: [secret], at })).toBe("good");
});

test("one of several signatures and one of several secrets is enough, as at a rollover", () => {
  expect(outcome(`t=${AT},v1=${"0".repeat(64)},v1=${V1}`)).toBe("good");
  expect(outcome(`t=${AT},v1=${V1},v0=${"0".repeat(64)}`, { secrets: ["whsec_new", SECRET] })).toBe("good");
  expect(outcome(`t=${AT},v1=${V1}`, { secrets: ["whsec_new"] })).toBe("SIGNATURE_INVALID");
});

test.each([
  [-301, "TIMESTAMP_OUT_OF_WINDOW"],
  [-300, "good"],
  [300, "good"],
  [301, "TIMESTAMP_OUT_OF_WINDOW"],
])("%d seconds from our clock is %s", (seconds, expected) => {
  expect(outcome(`t=${AT},v1=${V1}`, { at: AT + seconds })).toBe(expected);
});

const hmac = (text: string): string => createHmac("sha256", SECRET).update(text).digest("hex");

test.each([
  ["nothing", undefined, "SIGNATURE_MISSING"],
  ["an empty header", "", "SIGNATURE_MISSING"],
  ["two headers", [`t=${AT},v1=${V1}`, `t=${AT},v1=${V1}`], "SIGNATURE_INVALID"],
  ["no timestamp", `v1=${V1}`, "SIGNATURE_INVALID"],
  ["two timestamps", `t=${AT},t=${AT},v1=${V1}`, "SIGNATURE_INVALID"],
  ["no signature", `t=${AT}`, "SIGNATURE_INVALID"],
  ["another scheme alone", `t=${AT},v0=${V1}`, "SIGNATURE_INVALID"],
  ["upper-case hex", `t=${AT},v1=${V1.toUpperCase()}`, "SIGNATURE_INVALID"],
  ["a shorter signature", `t=${AT},v1=${V1.slice(1)}`, "SIGNATURE_INVALID"],
  ["another timestamp", `t=${AT + 1},v1=${V1}`, "SIGNATURE_INVALID"],
  ["a timestamp that is signed and no number", `t=abc,v1=${hmac(`abc.${BODY}`)}`, "SIGNATURE_INVALID"],
  ["spaces", `t=${AT}, v1=${V1}`, "SIGNATURE_INVALID"],
  ["nine signatures", `t=${AT}${`,v1=${V1}`.repeat(9)}`, "SIGNATURE_INVALID"],
  ["a header beyond reason", `t=${AT},v1=${V1},x=${"x".repeat(2_048)}`, "SIGNATURE_INVALID"],
])("%s is refused", (_name, header, expected) => {
  expect(outcome(header)).toBe(expected);
});

test("another byte of the body, or no secret at all, is refused", () => {
  expect(outcome(`t=${AT},v1=${V1}`, { body: `${BODY} ` })).toBe("SIGNATURE_INVALID");
  expect(outcome(`t=${AT},v1=${V1}`, { secrets: [] })).toBe("SIGNATURE_INVALID");
});
