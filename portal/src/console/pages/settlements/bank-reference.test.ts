// Goal: a payout of real money is recorded with the bank's reference, on every page that records one. Method: the field's words, without a browser.
import { type ComponentProps, type FunctionComponent, createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Form } from "../../../ui/form.tsx";
import { BankReference, noReference, paidBy } from "./bank-reference.tsx";

const FormOf = Form as FunctionComponent<Omit<ComponentProps<typeof Form>, "children">>;

function words(environment: string): string {
  const form = { values: noReference, action: { pending: false, error: undefined }, onSubmit: () => {} };
  return renderToStaticMarkup(createElement(FormOf, form, createElement(BankReference, { environment })));
}

test("the reference is asked for where the money is real, and optional in the sandbox", () => {
  expect(words("production")).toContain("as shown on the bank&#x27;s statement");
  expect(words("sandbox")).toContain("Optional");
  expect(words("production")).not.toContain("Optional");
});

test("what was typed is sent without spaces around it; nothing is sent as nothing", () => {
  expect(paidBy({ bank_reference: " TRF-1 " })).toEqual({ bank_reference: "TRF-1" });
  expect(paidBy({ bank_reference: "  " })).toEqual({});
});
