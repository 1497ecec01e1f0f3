// The call that the form makes, in the person's language, as they type.
import { useSession } from "../../../api/session.ts";
import { addressOf, keyOf } from "../../../code/call.ts";
import { languages } from "../../../code/languages.ts";
import { Code } from "../../../ui/code.tsx";
import { useFormValues } from "../../../ui/form.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import { useLanguage } from "../../../words.ts";
import { bodyOf } from "./fields.ts";

export function CodePane({ exponent }: { exponent: number }) {
  const values = useFormValues();
  const language = useLanguage();
  const baseUrl = useSession()?.service.base_url ?? `${location.origin}/v1`;
  const call = {
    method: "POST" as const,
    url: addressOf(baseUrl, "/v1/payments"),
    body: bodyOf(values, exponent, language),
    key: keyOf("create", values.reference_id ?? ""),
  };
  const tabs = Object.fromEntries(
    Object.entries(languages).map(([name, { label, codeOf }]) => [
      name,
      { label, content: () => <Code text={codeOf(call)} what={`the call in ${label}`} /> },
    ]),
  );
  return (
    <section aria-label="The same in code" className="min-w-0">
      <h2 className="mb-2 text-base font-semibold">The same in code</h2>
      <Tabs label="Languages" tabs={tabs} />
      <p className="mt-2 text-xs text-muted">
        Put one of your keys into the environment as <code className="font-mono">GERBANG_CLIENT_ID</code> and{" "}
        <code className="font-mono">GERBANG_SECRET</code>. This page never sees a secret. The signature is HMAC-SHA256
        of the timestamp, a dot and the body.
      </p>
    </section>
  );
}
