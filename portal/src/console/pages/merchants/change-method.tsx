// Changing a method of a merchant: on or off, its largest payment, and its price in each currency.
import { SelectField } from "../../../ui/form.tsx";
import { AmountField, type Change, ChangeDialog, type Merchant, NumberField, numberIn, useAmounts } from "./change.tsx";
import { DEFAULT_CURRENCY, type Fee, type Method, feesOf } from "./prices.ts";

const parts = ["basis_points", "flat_minor", "minimum_minor", "maximum_minor"] as const;

interface Props {
  of: Merchant;
  method: Method;
  close: () => void;
}

export function ChangeMethod({ of: merchant, method, close }: Props) {
  const { enabled, max_amount_minor: maximum } = merchant.methods[method];
  const { typedOf, minorIn } = useAmounts();
  // A currency that is on and has no price yet can be given one here.
  const priced = feesOf(merchant, method).map(([currency]) => currency);
  const currencies = [...new Set([...priced, ...merchant.currencies])];
  const before = new Map(feesOf(merchant, method));
  const maximumName = `methods.${method}.max_amount_minor`;
  const enabledName = `methods.${method}.enabled`;
  const prefixOf = (currency: string): string =>
    currency === DEFAULT_CURRENCY && merchant.fees[method].per_currency?.[currency] === undefined
      ? `fees.${method}`
      : `fees.${method}.per_currency.${currency}`;
  const values = currencies.flatMap((currency) =>
    parts.map((part) => {
      const number = before.get(currency)?.[part];
      const text = part === "basis_points" ? String(number ?? "") : typedOf(number, currency);
      return [`${prefixOf(currency)}.${part}`, text];
    }),
  );
  const changeOf = (typed: Record<string, string>): Change => {
    const { per_currency: kept, ...own } = merchant.fees[method];
    const fees = currencies.flatMap((currency): [string, Fee][] => {
      const fee = feeIn(typed, prefixOf(currency), (text) => minorIn(text, currency));
      return fee === undefined ? [] : [[prefixOf(currency), fee]];
    });
    const first = fees.find(([prefix]) => prefix === `fees.${method}`)?.[1] ?? own;
    const others = currencies.flatMap((currency): [string, Fee][] => {
      const fee = fees.find(([prefix]) => prefix === `fees.${method}.per_currency.${currency}`)?.[1];
      return fee === undefined ? [] : [[currency, fee]];
    });
    const largest = minorIn(typed[maximumName], DEFAULT_CURRENCY);
    return {
      methods: {
        [method]: {
          enabled: typed[enabledName] === "on",
          ...(largest === undefined ? {} : { max_amount_minor: largest }),
        },
      },
      fees: {
        [method]: {
          ...first,
          ...(kept === undefined && others.length === 0 ? {} : { per_currency: Object.fromEntries(others) }),
        },
      },
    };
  };
  return (
    <ChangeDialog
      of={merchant}
      title={`Change ${method.replaceAll("_", " ")}`}
      values={{
        [enabledName]: enabled ? "on" : "off",
        [maximumName]: typedOf(maximum, DEFAULT_CURRENCY),
        ...(Object.fromEntries(values) as Record<string, string>),
      }}
      changeOf={changeOf}
      close={close}
    >
      <SelectField name={enabledName} label="State" options={["on", "off"]} />
      <AmountField
        name={maximumName}
        label={`Largest payment in ${DEFAULT_CURRENCY}`}
        currency={DEFAULT_CURRENCY}
        hint={
          maximum === undefined
            ? "Empty: the merchant's limit."
            : "You can raise it up to the merchant's limit, but not remove it."
        }
        optional
        positive
      />
      {currencies.map((currency) => (
        <Price key={currency} prefix={prefixOf(currency)} currency={currency} optional={!before.has(currency)} />
      ))}
    </ChangeDialog>
  );
}

function Price({ prefix, currency, optional }: { prefix: string; currency: string; optional: boolean }) {
  return (
    <fieldset className="space-y-3 border-t border-line pt-3">
      <legend className="float-left mb-2 w-full font-semibold">Price in {currency}</legend>
      <NumberField
        name={`${prefix}.basis_points`}
        label="Share, in basis points"
        hint="70 is 0.70 %."
        optional={optional}
      />
      <AmountField name={`${prefix}.flat_minor`} label="Flat part" currency={currency} optional={optional} />
      <AmountField name={`${prefix}.minimum_minor`} label="At least" currency={currency} optional />
      <AmountField name={`${prefix}.maximum_minor`} label="At most" currency={currency} optional />
    </fieldset>
  );
}

/** A fee as it was typed; undefined where none was. */
function feeIn(
  typed: Record<string, string>,
  prefix: string,
  minorIn: (text: string | undefined) => number | undefined,
): Fee | undefined {
  const numbers = parts.map((part) => {
    const text = typed[`${prefix}.${part}`];
    return [part, part === "basis_points" ? numberIn(text) : minorIn(text)] as const;
  });
  const given = numbers.filter(([, number]) => number !== undefined);
  return given.length === 0 ? undefined : (Object.fromEntries(given) as unknown as Fee);
}
