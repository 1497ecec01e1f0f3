// Changing some of a merchant's settings: a dialog with a form, and what its fields have in common.
import type { ReactNode } from "react";
import { useAction } from "../../../api/action.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form, Submit, TextField, useFormValues } from "../../../ui/form.tsx";
import { digitsOf } from "../../../ui/money.tsx";
import { say } from "../../../ui/toast.tsx";
import { useLanguage } from "../../../words.ts";
import { type Schema, write } from "../../api/client.ts";
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

export function ChangeDialog({ of: { merchant_id: id }, title, values, changeOf, close, children }: Props) {
  const action = useAction((body: Change) => write("PATCH", "/v1/merchants/{id}", { path: { id }, body }), {
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

/** An amount as the API takes it, in minor units, and below what that is. */
export function MinorField({ name, label, hint, optional, currency }: NumberProps & { currency: string }) {
  const typed = useFormValues()[name] ?? "";
  const language = useLanguage();
  const exponent = exponentOf(currency);
  const isAmount = /^\d{1,15}$/.test(typed.trim()) && exponent !== undefined;
  return (
    <NumberField
      name={name}
      label={`${label}, in minor units`}
      optional={optional ?? false}
      hint={
        <>
          {isAmount && (
            <strong className="mr-2 font-medium text-ink">
              = {currency} {digitsOf(BigInt(typed.trim()), exponent, language)}
            </strong>
          )}
          {hint}
        </>
      }
    />
  );
}

/** The number in a field; undefined when it is empty. */
export function numberIn(text: string | undefined): number | undefined {
  return text === undefined || text.trim() === "" ? undefined : Number(text);
}
