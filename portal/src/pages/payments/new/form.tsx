// The form of a new payment, with the code that does the same beside it.
import { useState } from "react";
import { type Action, useAction } from "../../../api/action.ts";
import { useApi, usePlace } from "../../../api/place.ts";
import type { AnswerOf, OperationOf, Schema } from "../../../api/types.ts";
import { Form, SelectField, Submit, TextField, needed, useFormValues } from "../../../ui/form.tsx";
import { boundsAsMoney, faultOfAmount, inMinorUnits, minorOf } from "../../../ui/money.tsx";
import { useLanguage } from "../../../words.ts";
import { CodePane } from "./code-pane.tsx";
import { type Body, type Values, bodyOf, folded, methods, scenarios } from "./fields.ts";

export type Made = AnswerOf<OperationOf<"/v1/payments", "POST">>;
type Settings = Schema<"MerchantSettings">;

interface Props {
  settings: Settings;
  first: Values;
  onMade: (made: Made, values: Values) => void;
}

export function PaymentForm({ settings, first, onMade }: Props) {
  const api = useApi();
  const language = useLanguage();
  const exponentOf = (values: Values): number =>
    settings.currencies.find(({ currency }) => currency === values.currency)?.exponent ?? 2;
  const action: Action<Body, Made> = useAction((body, intent) => api.write("POST", "/v1/payments", { body }, intent), {
    refresh: ["/v1/payments", "/v1/overview", "/v1/events"],
  });
  const submit = async (values: Values): Promise<void> => {
    const made = await action.run(bodyOf(values, exponentOf(values), language));
    if (made) onMade(made, values);
  };
  return (
    <Form values={first} action={action} onSubmit={submit}>
      <Columns settings={settings} exponentOf={exponentOf} />
    </Form>
  );
}

function Columns({ settings, exponentOf }: { settings: Settings; exponentOf: (values: Values) => number }) {
  const exponent = exponentOf(useFormValues());
  return (
    <div className="grid gap-x-10 gap-y-8 lg:grid-cols-[minmax(18rem,24rem)_minmax(0,1fr)]">
      <Fields settings={settings} exponent={exponent} />
      <CodePane exponent={exponent} />
    </div>
  );
}

function Fields({ settings, exponent }: { settings: Settings; exponent: number }) {
  const { environment } = usePlace();
  const values = useFormValues();
  const { amount_minor: typed = "", currency = "" } = values;
  // What goes with the next payment, too, is seen: another payer may be meant.
  const [isUnfolded] = useState(() => folded.some((name) => values[name] !== ""));
  const language = useLanguage();
  const minor = minorOf(typed, exponent, language);
  const enabled = settings.payment_methods.filter((one) => one.enabled).map((one) => one.payment_method);
  const offered = methods.filter((method) => enabled.includes(method));
  return (
    <div className="space-y-4">
      <TextField
        name="amount_minor"
        label="Amount"
        inputMode="decimal"
        autoComplete="off"
        check={(value) => faultOfAmount(minorOf(value, exponent, language), exponent)}
        tell={(error) => boundsAsMoney(error, exponent, language)}
        hint={
          minor !== undefined && `${inMinorUnits({ amount_minor: minor, currency, exponent }, language)}: amount_minor.`
        }
      />
      <SelectField name="currency" label="Currency" options={settings.currencies.map((one) => one.currency)} />
      <SelectField name="payment_method" label="Method" options={offered} />
      <TextField
        name="reference_id"
        label="Your reference"
        mono
        autoComplete="off"
        check={neededReference}
        hint="Your own id for the order: unique, at most 64 characters."
      />
      <TextField name="description" label="Description" autoComplete="off" hint="Optional." />
      {environment === "sandbox" && (
        <SelectField
          name="scenario"
          label="What the simulated acquirer does"
          options={scenarios}
          hint={'Sent as metadata["sandbox.scenario"].'}
        />
      )}
      <details open={isUnfolded}>
        <summary className="w-fit py-0.5 text-muted hover:text-ink">Customer, expiry, addresses, metadata</summary>
        <div className="mt-3 space-y-4">
          <Optional isSandbox={environment === "sandbox"} />
        </div>
      </details>
      <Submit>Create the payment</Submit>
    </div>
  );
}

function Optional({ isSandbox }: { isSandbox: boolean }) {
  return (
    <>
      <TextField name="customer.name" label="Customer's name" autoComplete="off" />
      <TextField
        name="customer.email"
        label="Customer's e-mail"
        autoComplete="off"
        hint={isSandbox && "Any address @review.test is held for review; any address @reject.test is rejected."}
      />
      <TextField name="customer.phone" label="Customer's telephone" placeholder="+628…" autoComplete="off" />
      <TextField
        name="expires_in"
        label="Seconds to pay in"
        inputMode="numeric"
        autoComplete="off"
        check={wholeOrEmpty}
        hint="60 to 86400; 1800 when empty."
      />
      <TextField name="callback_url" label="callback_url" type="url" mono autoComplete="off" />
      <TextField name="return_url" label="return_url" type="url" mono autoComplete="off" />
      <TextField name="metadata" label="Metadata" lines={3} mono hint="One pair per line: name=value." />
    </>
  );
}

const neededReference = needed("A reference");
const wholeOrEmpty = (value: string): string | undefined =>
  /^\s*\d{0,6}\s*$/.test(value) ? undefined : "Enter a whole number of seconds.";
