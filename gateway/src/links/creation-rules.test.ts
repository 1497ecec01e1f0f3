// Goal: what links a merchant may make, by the methods that its environment has. Method: the rules alone, pure.
import { expect, test } from "vitest";
import { merchantWith } from "../../test/given.ts";
import { aRouter, anAcquirer, takes } from "../../test/routing.ts";
import { Fault } from "../ground/fault.ts";
import type { Call } from "../http/endpoint.ts";
import { judgeBody } from "../http/fields.ts";
import { judgeCreation } from "./creation-rules.ts";
import { createLinkRules } from "./links.schema.ts";

/** "accepted", or the code of the refusal, of a link by these methods in production. */
function judged(methods: string[], router: ReturnType<typeof aRouter>): string {
  const merchant = merchantWith({});
  const call = { merchant, book: { merchantId: merchant.merchantId, environment: "production" } } as Call;
  const input = { amount_minor: 150_000, currency: "IDR", reusable: false, payment_methods: methods };
  try {
    judgeCreation(router, call, input, judgeBody(createLinkRules, input));
    return "accepted";
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.code;
  }
}

const acquirer = anAcquirer("bank", { environment: "production", capabilities: [takes()] });

test("a link of closed production has the methods of the merchant", () => {
  expect(judged(["qris", "va"], aRouter({ acquirers: [acquirer] }, false))).toBe("accepted");
});

test("a link of open production has the methods that an acquirer takes", () => {
  const open = aRouter({ acquirers: [acquirer] });
  expect(judged(["qris"], open)).toBe("accepted");
  expect(judged(["qris", "va"], open)).toBe("PAYMENT_METHOD_UNAVAILABLE");
});
