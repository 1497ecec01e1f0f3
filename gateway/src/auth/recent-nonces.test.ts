// Goal: a nonce is refused from the second time on, as long as it is good, unless its request failed. Method: moments that the test names.
import { expect, test } from "vitest";
import { NOW } from "../../test/given.ts";
import { SECOND } from "../ground/clock.ts";
import { RecentNonces } from "./recent-nonces.ts";

const seconds = Math.floor(NOW / SECOND);
const nonce = (digest: string) => ({ merchantId: "mer_x", digest, validUntil: seconds + 300 });

test("a nonce is refused when it is sent again, and the next one is not", () => {
  const recent = new RecentNonces();
  recent.refuseRepeated(nonce("a"), NOW);
  recent.refuseRepeated(nonce("b"), NOW);
  expect(() => recent.refuseRepeated(nonce("a"), NOW)).toThrow("already used");
  expect(() => recent.refuseRepeated(nonce("a"), NOW + 300 * SECOND)).toThrow("already used");
  recent.refuseRepeated(nonce("a"), NOW + 301 * SECOND);
});

test("the nonce of a request that failed is good again, once", () => {
  const recent = new RecentNonces();
  recent.refuseRepeated(nonce("a"), NOW);
  recent.forget(nonce("a"));
  recent.refuseRepeated(nonce("a"), NOW);
  expect(() => recent.refuseRepeated(nonce("a"), NOW)).toThrow("already used");
});
