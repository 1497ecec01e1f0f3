// Changing some of a merchant's settings: a dialog with a form, and what its fields have in common.
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useAction } from "../../../api/action.ts";
import { ApiError } from "../../../api/error.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form, Submit, TextField, useFormValues } from "../../../ui/form.tsx";
import { digitsOf } from "../../../ui/money.tsx";
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
