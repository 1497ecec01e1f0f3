// Goal: what links a merchant may make, by the methods that its environment has. Method: the rules alone, pure.
import { expect, test } from "vitest";
import { merchantWith } from "../../test/given.ts";
import { aRouter, anAcquirer, takes } from "../../test/routing.ts";
import { Fault } from "../ground/fault.ts";
import type { Call } from "../http/endpoint.ts";
import { judgeBody } from "../http/fields.ts";
import { judgeCreation } from "./creation-rules.ts";
import { createLinkRules } from "./links.schema.ts";

/** "accepted", or the code of the refusal and the field that it names, of a link in production. */
function judgedBody(given: object, router: ReturnType<typeof aRouter>): string {
  const merchant = merchantWith({ max_amount_minor: 1_000_000 });
  const call = { merchant, book: { merchantId: merchant.merchantId, environment: "production" } } as Call;
  const input = { currency: "IDR", reusable: false, ...given };
  try {
    judgeCreation(router, call, input, judgeBody(createLinkRules, input));
    return "accepted";
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return [error.code, error.extras.details?.field].filter(Boolean).join(" ");
  }
}

/** The same of a link by these methods. */
const judged = (methods: unknown, router: ReturnType<typeof aRouter>): string =>
  judgedBody({ amount_minor: 150_000, payment_methods: methods }, router);

const acquirer = anAcquirer("bank", { environment: "production", capabilities: [takes()] });

test("a link of closed production has the methods of the merchant", () => {
  expect(judged(["qris", "va"], aRouter({ acquirers: [acquirer] }, false))).toBe("accepted");
});

test("a link of open production has the methods that an acquirer takes", () => {
  const open = aRouter({ acquirers: [acquirer] });
  expect(judged(["qris"], open)).toBe("accepted");
  expect(judged(["qris", "va"], open)).toBe("PAYMENT_METHOD_UNAVAILABLE");
});

// A field's fault comes before that of a later one, whatever its kind: amounts, then methods.
test.each<[object, string]>([
  [{ amount_minor: 1_000_000 }, "accepted"],
  [{ amount_minor: 1_000_001 }, "INVALID_AMOUNT amount_minor"],
  [{ amount_minor: 0 }, "INVALID_AMOUNT amount_minor"],
  [{ amount_minor: "5" }, "INVALID_AMOUNT amount_minor"],
  [{ amount_minor: 5, minimum_minor: null, maximum_minor: null }, "accepted"],
  [{ amount_minor: 5, minimum_minor: 5 }, "VALIDATION_ERROR minimum_minor"],
  [{ amount_minor: 5, maximum_minor: 5 }, "VALIDATION_ERROR maximum_minor"],
  [{ minimum_minor: 5, maximum_minor: 5 }, "accepted"],
  [{ minimum_minor: 5 }, "accepted"],
  [{ maximum_minor: 1 }, "accepted"],
  [{ maximum_minor: 0 }, "INVALID_AMOUNT maximum_minor"],
  [{ minimum_minor: 5, maximum_minor: 4 }, "INVALID_AMOUNT maximum_minor"],
  [{ minimum_minor: 1_000_001 }, "INVALID_AMOUNT minimum_minor"],
  [{ maximum_minor: 1_000_001 }, "INVALID_AMOUNT maximum_minor"],
  [{ minimum_minor: "5", maximum_minor: 1 }, "INVALID_AMOUNT minimum_minor"],
  [{ amount_minor: 1_000_001, payment_methods: ["va"] }, "INVALID_AMOUNT amount_minor"],
  [{ amount_minor: 5, payment_methods: "va" }, "VALIDATION_ERROR payment_methods"],
  [{ amount_minor: 5, payment_methods: ["va"], expires_in: "x" }, "VALIDATION_ERROR expires_in"],
  [{ amount_minor: 5, currency: "USD", payment_methods: ["va"] }, "CURRENCY_NOT_SUPPORTED"],
])("of a link with %j the answer is %s", (given, answer) => {
  expect(judgedBody(given, aRouter({ acquirers: [acquirer] }))).toBe(answer);
});
