// By what a payer is found: an e-mail address or a telephone.
import { Form, Submit, TextField } from "../../../ui/form.tsx";

export interface Contact {
  text: string;
  kind: "email" | "phone";
}

const idle = { pending: false, error: undefined };

export function FindPayer({ onFind }: { onFind: (contact: Contact) => void }) {
  return (
    <Form
      values={{ payer: "" }}
      action={idle}
      onSubmit={({ payer = "" }) => {
        const text = payer.trim();
        onFind({ text, kind: text.includes("@") ? "email" : "phone" });
      }}
    >
      <TextField
        name="payer"
        label="E-mail address or telephone"
        placeholder="sari@pelanggan.id, +628123456789"
        autoComplete="off"
        check={isContact}
        hint="As your system sent it. If the payer used both, repeat this with the other one."
      />
      <Submit>Find the payments</Submit>
    </Form>
  );
}

function isContact(value: string): string | undefined {
  return /^\s*([^@\s]+@[^@\s]+|\+\d{8,15})\s*$/.test(value)
    ? undefined
    : "Enter an e-mail address with one @, or a telephone number as + and 8 to 15 digits.";
}
