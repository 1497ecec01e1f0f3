// Which status codes are a definite no, line by line as the documentation lists them; all others leave the outcome unknown.
import { describe, expect, test } from "vitest";
import { definiteNo, saysAlreadyThere } from "./errors.ts";

const allCodes = Array.from({ length: 500 }, (_, at) => String(at + 100));

function answered(asked: "charge" | "page" | "reversal"): Record<string, "no" | "not now"> {
  const definite = allCodes.flatMap((code) => {
    const found = definiteNo(asked, code);
    return found ? [[code, found.unavailable ? "not now" : "no"] as const] : [];
  });
  return Object.fromEntries(definite);
}

describe("a definite no", () => {
  test("to a charge is one of these ten, and no other code from 100 to 599", () => {
    expect(answered("charge")).toEqual({
      "400": "no",
      "401": "not now",
      "402": "no",
      "404": "no",
      "405": "no",
      "408": "no",
      "410": "no",
      "411": "no",
      "413": "no",
      "429": "not now",
    });
  });

  test("to a refund or a cancellation is one of these ten, and no other", () => {
    expect(answered("reversal")).toEqual({
      "400": "no",
      "401": "not now",
      "402": "no",
      "404": "no",
      "405": "no",
      "408": "no",
      "412": "no",
      "413": "no",
      "414": "no",
      "429": "not now",
    });
  });

  test("to a page is 400 or 401", () => {
    expect(answered("page")).toEqual({ "400": "no", "401": "not now" });
  });

  test.each(["406", "407", "500", "503", "202", "", "constructor", "toString"])("is not %s", (code) => {
    for (const asked of ["charge", "page", "reversal"] as const) expect(definiteNo(asked, code)).toBeUndefined();
  });
});

test("a page that is refused since its order is paid is not refused: it is there", () => {
  const paid = "transaction_details.order_id has been paid and utilized, please use another order ID";
  expect(saysAlreadyThere([paid])).toBe(true);
  expect(saysAlreadyThere(["transaction_details.gross_amount is not equal to the sum of item_details"])).toBe(false);
});
