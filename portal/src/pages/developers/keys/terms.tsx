// The terms of a key in a form: its name, what it may do, from where, until when, and which signatures it takes.
import { useState } from "react";
import { useCan, usePlace } from "../../../api/place.ts";
import { ChoicesField, SelectField, TextField, needed, useFormValues } from "../../../ui/form.tsx";

/** In the order of the API's documents. */
export const scopes = [
  "payments:read",
  "payments:write",
  "refunds:read",
  "refunds:write",
  "balances:read",
  "settlements:read",
  "disputes:read",
  "events:read",
  "events:write",
  "sandbox:write",
] as const;
type Scope = (typeof scopes)[number];

/** As the form has them: texts. */
interface TermValues extends Record<string, string> {
  name: string;
  scopes: string;
  allowed_addresses: string;
  expires_at: string;
  signature: string;
}

export interface Terms {
  name: string;
  scopes: Scope[];
  allowed_addresses: string[];
  expires_at: string | null;
  signature: "any" | "rfc9421";
}

export const firstTerms: TermValues = {
  name: "",
  scopes: scopes.join(" "),
  allowed_addresses: "",
  expires_at: "",
  signature: "any",
};

export function valuesOf(terms: {
  name: string | null;
  scopes: string[];
  allowed_addresses: string[];
  expires_at: string | null;
  signature: string;
}): TermValues {
  return {
    name: terms.name ?? "",
    scopes: terms.scopes.join(" "),
    allowed_addresses: terms.allowed_addresses.join("\n"),
    expires_at: terms.expires_at?.slice(0, 10) ?? "",
    signature: terms.signature,
  };
}

/** What the API takes. A key ends with its day. */
export function termsOf(values: Record<string, string>): Terms {
  const words = (text = ""): string[] => text.split(/[\s,]+/).filter(Boolean);
  return {
    name: (values.name ?? "").trim(),
    scopes: words(values.scopes) as Scope[],
    allowed_addresses: words(values.allowed_addresses),
    expires_at: values.expires_at ? `${values.expires_at}T23:59:59Z` : null,
    signature: values.signature === "rfc9421" ? "rfc9421" : "any",
  };
}

export function scopeCount(of: readonly string[]): string {
  if (of.length === scopes.length) return "everything";
  return of.length <= 2 ? of.join(", ") : `${of.length} of ${scopes.length} things`;
}

const nameNeeded = needed("A name");
const oneScope = (value: string): string | undefined => (value === "" ? "Choose at least one permission." : undefined);

/** What a person may give to a key: no more than they may do. */
export function useOwnScopes(): Scope[] {
  const can = useCan();
  const { environment } = usePlace();
  return scopes.filter((scope) => can(scope) || (scope === "sandbox:write" && environment === "production"));
}

export function TermFields({ kept = [] }: { kept?: readonly string[] | undefined }) {
  const own = useOwnScopes();
  const { allowed_addresses: addresses, expires_at: end, signature } = useFormValues();
  // What is set is in sight from the start. Afterwards the person opens and closes it.
  const [opened] = useState(() => addresses !== "" || end !== "" || signature !== firstTerms.signature);
  return (
    <>
      <TextField
        name="name"
        label="Name"
        placeholder="checkout"
        autoComplete="off"
        check={nameNeeded}
        hint="The system that uses it."
      />
      <ChoicesField
        name="scopes"
        label="May"
        options={scopes.filter((scope) => own.includes(scope) || kept.includes(scope))}
        check={oneScope}
      />
      <details open={opened}>
        <summary className="w-fit py-0.5 text-muted hover:text-ink">From where, until when, and how signed</summary>
        <div className="mt-3 space-y-4">
          <TextField
            name="allowed_addresses"
            label="Allowed addresses"
            lines={2}
            mono
            placeholder="203.0.113.0/24"
            hint="Addresses and networks, one per line. Empty: any address."
          />
          <TextField
            name="expires_at"
            label="Last day"
            type="date"
            hint="The key expires at the end of this day, in UTC. Empty: never."
          />
          <SelectField
            name="signature"
            label="Signatures"
            options={[
              { value: "any", label: "Timestamp and HMAC, or RFC 9421" },
              { value: "rfc9421", label: "RFC 9421 only" },
            ]}
            hint="RFC 9421 also signs the method, the address and the idempotency key."
          />
        </div>
      </details>
    </>
  );
}
