// New payment link: what the payer is asked for, how often, and until when; with the call that does the same beside it.
import { useQuery } from "@tanstack/react-query";
import { useGo } from "../../address.ts";
import { type Action, useAction } from "../../api/action.ts";
import { useApi, useCan, usePlace } from "../../api/place.ts";
import type { Schema } from "../../api/types.ts";
import { paths } from "../../paths.ts";
import { Answer } from "../../ui/answer.tsx";
import { Code } from "../../ui/code.tsx";
import { useCurl } from "../../ui/curl.tsx";
import { ChoicesField, Form, SelectField, Submit, TextField, useFormValues } from "../../ui/form.tsx";
import { boundsAsMoney, faultOfAmount, inMinorUnits, minorOf } from "../../ui/money.tsx";
import { Page as Frame } from "../../ui/page.tsx";
import { useLanguage } from "../../words.ts";
import { MayNotCreate } from "../payments/may-not-create.tsx";
import { type Body, type Values, bodyOf, firstValues, methods } from "./fields.ts";

type Settings = Schema<"MerchantSettings">;

export function Page() {
  const api = useApi();
  const place = usePlace();
  const can = useCan();
  const settings = useQuery(api.read("/v1/settings"));
  return (
    <Frame
      title="New payment link"
      lead="Set what the payer is asked for. Whatever you leave open, the payer chooses on the page."
      above={{ to: paths.links(place), label: "Payment links" }}
    >
      {can("payments:write") ? (
        <Answer of={settings}>{(settings) => <LinkForm settings={settings} />}</Answer>
      ) : (
        <MayNotCreate what="payment links" />
      )}
    </Frame>
  );
}

function LinkForm({ settings }: { settings: Settings }) {
  const api = useApi();
  const place = usePlace();
  const go = useGo();
  const language = useLanguage();
  const enabled = settings.payment_methods.filter((one) => one.enabled).map((one) => one.payment_method);
  const offered = methods.filter((method) => enabled.includes(method));
  const exponentOf = (values: Values): number =>
    settings.currencies.find(({ currency }) => currency === values.currency)?.exponent ?? 2;
  const action: Action<Body, Schema<"PaymentLink">> = useAction(
    (body, intent) => api.write("POST", "/v1/payment-links", { body }, intent),
    { refresh: ["/v1/payment-links"], done: (made) => void go(paths.link(place, made.uuid)) },
  );
  return (
    <Form
      values={firstValues(settings.currencies[0]?.currency ?? "IDR", offered, place.environment)}
      action={action}
      onSubmit={(values) => action.run(bodyOf(values, { exponent: exponentOf(values), language, offered }))}
    >
      <Columns settings={settings} offered={offered} exponentOf={exponentOf} />
    </Form>
  );
}

interface ColumnsProps {
  settings: Settings;
  offered: readonly string[];
  exponentOf: (values: Values) => number;
}

function Columns({ settings, offered, exponentOf }: ColumnsProps) {
  const values = useFormValues();
  const language = useLanguage();
  const exponent = exponentOf(values);
  const body = bodyOf(values, { exponent, language, offered });
  const text = useCurl({ method: "POST", path: "/v1/payment-links", body });
  return (
    <div className="grid gap-x-10 gap-y-8 lg:grid-cols-[minmax(18rem,24rem)_minmax(0,1fr)]">
      <Fields settings={settings} offered={offered} exponent={exponent} />
      <section aria-label="The same with curl" className="min-w-0">
        <h2 className="mb-2 text-base font-semibold">The same with curl</h2>
        <Code text={text} what="the call" />
        <p className="mt-2 text-xs text-muted">
          With one of your keys as <code className="font-mono">GERBANG_CLIENT_ID</code> and{" "}
          <code className="font-mono">GERBANG_SECRET</code>. The answer has the link as{" "}
          <code className="font-mono">url</code>.
        </p>
      </section>
    </div>
  );
}

const days = (count: number): string => String(count * 86_400);
const ends = [
  { value: "3600", label: "for an hour" },
  { value: days(1), label: "for a day" },
  { value: days(7), label: "for a week" },
  { value: days(30), label: "for 30 days" },
  { value: days(365), label: "for a year" },
  { value: "", label: "until you close it" },
];
const paidWithin = [
  { value: "1800", label: "half an hour" },
  { value: "7200", label: "two hours" },
  { value: "86400", label: "a day, as virtual accounts need" },
];

function Fields({ settings, offered, exponent }: { settings: Settings; offered: readonly string[]; exponent: number }) {
  const { amount } = useFormValues();
  return (
    <div className="space-y-4">
      <SelectField name="currency" label="Currency" options={settings.currencies.map((one) => one.currency)} />
      <SelectField
        name="amount"
        label="Who says how much"
        options={[
          { value: "fixed", label: "you: this amount" },
          { value: "open", label: "the payer, within bounds" },
        ]}
      />
      {amount === "fixed" ? (
        <AmountField name="amount_minor" label="Amount" exponent={exponent} needed />
      ) : (
        <div className="grid gap-4 sm:grid-cols-2">
          <AmountField name="minimum_minor" label="At least" exponent={exponent} />
          <AmountField name="maximum_minor" label="At most" exponent={exponent} />
        </div>
      )}
      <TextField
        name="description"
        label="What it is for"
        autoComplete="off"
        hint="The payer reads it. At most 255 characters."
      />
      <SelectField
        name="reusable"
        label="How often it is paid"
        options={[
          { value: "false", label: "once: an invoice" },
          { value: "true", label: "again and again: a counter, a tip jar" },
        ]}
      />
      <SelectField name="expires_in" label="How long payers may begin to pay" options={ends} />
      <ChoicesField
        name="payment_methods"
        label="How the payer may pay"
        options={offered}
        check={oneChosen}
        hint="With all of them chosen, the link follows your settings."
      />
      <details>
        <summary className="w-fit py-0.5 text-muted hover:text-ink">Payer's name, time to pay, way back</summary>
        <div className="mt-3 space-y-4">
          <SelectField
            name="customer_required"
            label="Name and e-mail address"
            options={[
              { value: "false", label: "are not asked for" },
              { value: "true", label: "are asked for, and count for fraud detection" },
            ]}
          />
          <SelectField name="payment_expires_in" label="Each payment can be paid within" options={paidWithin} />
          <TextField
            name="return_url"
            label="return_url"
            type="url"
            mono
            autoComplete="off"
            hint="https address to which the payer goes back after paying."
          />
        </div>
      </details>
      <Submit>Make the link</Submit>
    </div>
  );
}

interface AmountFieldProps {
  name: string;
  label: string;
  exponent: number;
  needed?: boolean;
}

function AmountField({ name, label, exponent, needed = false }: AmountFieldProps) {
  const { [name]: typed = "", currency = "" } = useFormValues();
  const language = useLanguage();
  const minor = minorOf(typed, exponent, language);
  const check = (value: string): string | undefined => {
    if (value.trim() === "" && !needed) return undefined;
    return faultOfAmount(minorOf(value, exponent, language), exponent);
  };
  return (
    <TextField
      name={name}
      label={label}
      inputMode="decimal"
      autoComplete="off"
      check={check}
      tell={(error) => boundsAsMoney(error, exponent, language)}
      hint={
        minor === undefined
          ? !needed && "Optional."
          : `${inMinorUnits({ amount_minor: minor, currency, exponent }, language)}: ${name}.`
      }
    />
  );
}

const oneChosen = (value: string): string | undefined =>
  value.trim() === "" ? "Choose at least one method." : undefined;
