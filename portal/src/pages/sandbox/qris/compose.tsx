// Composing a code: the service writes it and computes its checksum.
import { useAction } from "../../../api/action.ts";
import { useApi } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { Form, Submit, TextField } from "../../../ui/form.tsx";
import { minorOf } from "../../../ui/money.tsx";
import { useLanguage } from "../../../words.ts";

type Composed = Schema<"EncodeQris">;

const RUPIAH_EXPONENT = 2;
const first = {
  amount_minor: "75000",
  merchant_name: "TOKO SARI",
  city: "JAKARTA",
  postal_code: "10110",
  category_code: "5999",
  national_merchant_id: "ID1020012345678",
  merchant_pan: "9360001412345678901",
  bill_number: "INV-1042",
};

export function Compose({ take }: { take: (code: string) => void }) {
  const api = useApi();
  const language = useLanguage();
  const minorOfTyped = (typed: string): number => minorOf(typed, RUPIAH_EXPONENT, language) ?? 0;
  const action = useAction((body: Composed) => api.write("POST", "/v1/sandbox/qris/encode", { body }), {
    refresh: [],
    done: ({ qr_string: text }) => {
      take(text);
      scrollTo({ top: 0 });
    },
  });
  const submit = ({ amount_minor: typed = "", bill_number: bill = "", ...rest }: Record<string, string>) =>
    action.run({
      ...(rest as Omit<Composed, "amount_minor" | "bill_number">),
      ...(typed.trim() === "" ? {} : { amount_minor: minorOfTyped(typed) }),
      ...(bill.trim() === "" ? {} : { bill_number: bill.trim() }),
    });
  return (
    <details>
      <summary className="w-fit py-0.5 text-muted hover:text-ink">Name, city, amount, and who is paid</summary>
      <div className="mt-3 max-w-md">
        <Form values={first} action={action} onSubmit={submit}>
          <TextField
            name="amount_minor"
            label="Amount in IDR"
            inputMode="decimal"
            autoComplete="off"
            hint="Leave empty for a static code, where the payer types the amount."
            check={(value) => (value.trim() === "" || minorOfTyped(value) > 0 ? undefined : "Enter an amount in IDR.")}
          />
          <TextField name="merchant_name" label="Merchant's name" autoComplete="off" hint="Tag 59, 25 characters." />
          <TextField name="city" label="City" autoComplete="off" hint="Tag 60, 15 characters." />
          <TextField name="postal_code" label="Postal code" inputMode="numeric" autoComplete="off" />
          <TextField
            name="category_code"
            label="Merchant category"
            inputMode="numeric"
            autoComplete="off"
            hint="Tag 52."
          />
          <TextField
            name="national_merchant_id"
            label="National merchant identity"
            mono
            autoComplete="off"
            hint="Tag 51."
          />
          <TextField name="merchant_pan" label="Merchant PAN" mono autoComplete="off" hint="Tag 26." />
          <TextField name="bill_number" label="Bill number" mono autoComplete="off" hint="Tag 62, optional." />
          <Submit look="plain">Compose</Submit>
        </Form>
      </div>
    </details>
  );
}
