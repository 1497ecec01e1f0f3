// Changing some of a merchant's settings: a dialog with a form, and what its fields have in common.
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useAction } from "../../../api/action.ts";
import { ApiError } from "../../../api/error.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form, Submit, TextField, useFormValues } from "../../../ui/form.tsx";
import { digitsOf, faultOfAmount, faultOfDigits, inMinorUnits, minorOf } from "../../../ui/money.tsx";
import { say } from "../../../ui/toast.tsx";
import { useLanguage } from "../../../words.ts";
import { type Schema, read, write } from "../../api/client.ts";
import { exponentOf } from "./exponents.ts";

export type Merchant = Schema<"Merchant">;
export type Change = Schema<"UpdateMerchant">;

interface Props {
  of: Merchant;
  title: string;
  /** By the API's names: what it says of a field is said there. */
  values: Record<string, string>;
  changeOf: (values: Record<string, string>) => Change;
  close: () => void;
  children: ReactNode;
}

/**
 * A check for a dialog that shows settings and sends them as they then stood, with some changed: it throws when they are not so any more, for what was
 * changed meanwhile would be taken back.
 */
export function useAsOpened(merchant: Merchant): () => Promise<void> {
  const queries = useQueryClient();
  const [opened] = useState(() => JSON.stringify(merchant));
  return async () => {
    const id = merchant.merchant_id;
    const now = await queries.fetchQuery({ ...read("/v1/merchants/{id}", { path: { id } }), staleTime: 0 });
    if (JSON.stringify(now) === opened) return;
    const message =
      "The settings have changed since this was opened, perhaps by what you sent. Close it, and open it again to see them.";
    throw new ApiError({ code: "SETTINGS_CHANGED", status: 409, message });
  };
}

export function ChangeDialog({ of: merchant, title, values, changeOf, close, children }: Props) {
  const { merchant_id: id } = merchant;
  const compare = useAsOpened(merchant);
  const queries = useQueryClient();
  const change = async (body: Change) => {
    await compare();
    const changed = await write("PATCH", "/v1/merchants/{id}", { path: { id }, body });
    // At once: a dialog that is opened before the next answer would show and send the settings before the change.
    queries.setQueryData(read("/v1/merchants/{id}", { path: { id } }).queryKey, changed);
  };
  const action = useAction(change, {
    refresh: ["/v1/merchants", "/v1/audit"],
    done: () => {
      say("The change takes effect in every process within a second.");
      close();
    },
  });
  return (
    <Dialog open onClose={close} title={title}>
      <Form values={values} action={action} onSubmit={(typed) => action.run(changeOf(typed))}>
        {children}
        <Submit>Save</Submit>
      </Form>
    </Dialog>
  );
}

const whole = (value: string): string | undefined =>
  /^-?\d+$/.test(value.trim()) ? undefined : "A whole number is needed.";
const wholeOrNothing = (value: string): string | undefined => (value.trim() === "" ? undefined : whole(value));

interface NumberProps {
  name: string;
  label: string;
  hint?: ReactNode;
  optional?: boolean;
}

export function NumberField({ name, label, hint, optional = false }: NumberProps) {
  return (
    <TextField
      name={name}
      label={label}
      hint={hint}
      check={optional ? wholeOrNothing : whole}
      inputMode="numeric"
      autoComplete="off"
    />
  );
}

/** The most that the service takes of any amount, in minor units. */
const MOST = 999_999_999_999;

interface AmountProps extends NumberProps {
  currency: string;
  /** Of an amount that may not be zero. */
  positive?: boolean;
}

/** An amount as it is written in a profile's language, and below how the API takes it. */
export function AmountField({ name, label, hint, optional = false, positive = false, currency }: AmountProps) {
  const typed = useFormValues()[name] ?? "";
  const language = useLanguage();
  const { minorIn } = useAmounts();
  const exponent = exponentOf(currency);
  const minor = minorIn(typed, currency);
  const check = (value: string): string | undefined => {
    if (value.trim() === "" && optional) return undefined;
    if (exponent === undefined) return "Enter the currency first.";
    const minor = minorIn(value, currency);
    if (minor !== undefined && minor > MOST) return `Enter at most ${digitsOf(MOST, exponent, language)}.`;
    return positive ? faultOfAmount(minor, exponent) : faultOfDigits(minor, exponent);
  };
  return (
    <TextField
      name={name}
      label={label}
      inputMode="decimal"
      autoComplete="off"
      check={check}
      hint={
        <>
          {minor !== undefined &&
            exponent !== undefined &&
            `${inMinorUnits({ amount_minor: minor, currency, exponent }, language)}. `}
          {hint}
        </>
      }
    />
  );
}

interface Amounts {
  /** How an amount stands in its field: empty where there is none. */
  typedOf: (minor: number | undefined, currency: string) => string;
  /** The minor units in a field; undefined when it is empty, or no amount of the currency. */
  minorIn: (text: string | undefined, currency: string) => number | undefined;
}

/** Amounts of settings between their fields and the API. */
export function useAmounts(): Amounts {
  const language = useLanguage();
  return {
    typedOf(minor, currency) {
      const exponent = exponentOf(currency);
      return minor === undefined || exponent === undefined ? "" : digitsOf(minor, exponent, language);
    },
    minorIn(text, currency) {
      const exponent = exponentOf(currency);
      return text === undefined || exponent === undefined ? undefined : minorOf(text, exponent, language);
    },
  };
}

/** The number in a field; undefined when it is empty. */
export function numberIn(text: string | undefined): number | undefined {
  return text === undefined || text.trim() === "" ? undefined : Number(text);
}
