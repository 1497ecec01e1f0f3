// Adding a currency: with its largest payment and a price of each method that is on, because prices are never read in another currency's units.
import { useCallback } from "react";
import { TextField, useFormValues } from "../../../ui/form.tsx";
import { AmountField, type Change, ChangeDialog, type Merchant, NumberField, useAmounts } from "./change.tsx";
import { type Method, faultOfAdded, methodsOf } from "./prices.ts";

export function AddCurrency({ of: merchant, close }: { of: Merchant; close: () => void }) {
  const methods = methodsOf(merchant).filter((method) => merchant.methods[method].enabled);
  const { minorIn } = useAmounts();
  const check = useCallback((typed: string) => faultOfAdded(typed, merchant.currencies), [merchant.currencies]);
  const values = Object.fromEntries(
    methods.flatMap((method) => [
      // Left to be typed: nobody should sell for nothing by haste.
      [`${method}.basis_points`, ""],
      [`${method}.flat_minor`, "0"],
    ]),
  );
  return (
    <ChangeDialog
      of={merchant}
      title="Add a currency"
      values={{ currencies: "", max_amount_minor: "", ...values }}
      changeOf={(typed) => changeOf(merchant, methods, typed, minorIn)}
      close={close}
    >
      <TextField name="currencies" label="Currency" placeholder="USD" check={check} autoComplete="off" mono />
      <Fields methods={methods} />
    </ChangeDialog>
  );
}

function Fields({ methods }: { methods: readonly Method[] }) {
  const currency = (useFormValues().currencies ?? "").trim().toUpperCase();
  return (
    <>
      <AmountField name="max_amount_minor" label="Largest payment" currency={currency} positive />
      {methods.map((method) => (
        <fieldset key={method}>
          <legend className="mb-1 font-medium">{method.replaceAll("_", " ")}</legend>
          <div className="grid gap-3 sm:grid-cols-2">
            <NumberField name={`${method}.basis_points`} label="Share, in basis points" hint="70 is 0.70 %." />
            <AmountField name={`${method}.flat_minor`} label="Flat part" currency={currency} />
          </div>
        </fieldset>
      ))}
    </>
  );
}

function changeOf(
  merchant: Merchant,
  methods: readonly Method[],
  typed: Record<string, string>,
  minorIn: ReturnType<typeof useAmounts>["minorIn"],
): Change {
  const currency = (typed.currencies ?? "").trim().toUpperCase();
  const fees = methods.map((method) => {
    const price = {
      basis_points: Number(typed[`${method}.basis_points`]),
      flat_minor: minorIn(typed[`${method}.flat_minor`], currency) ?? 0,
    };
    const before = merchant.fees[method];
    return [method, { ...before, per_currency: { ...before.per_currency, [currency]: price } }] as const;
  });
  return {
    currencies: [...merchant.currencies, currency],
    max_amount_minor: { [currency]: minorIn(typed.max_amount_minor, currency) ?? 0 },
    fees: Object.fromEntries(fees),
  };
}
