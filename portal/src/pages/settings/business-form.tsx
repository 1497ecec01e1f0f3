// Name, language and time zone of the business: a form for owners, facts for everybody else.
import { useAction } from "../../api/action.ts";
import { useApi, useCan, useMembership } from "../../api/place.ts";
import type { Schema } from "../../api/types.ts";
import { Identity } from "../../ui/copy.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { Form, SelectField, Submit, TextField, needed } from "../../ui/form.tsx";
import { say } from "../../ui/toast.tsx";

type Settings = Schema<"MerchantSettings">;
type Change = Schema<"ChangeMerchantSettings">;

const languages = [
  { value: "", label: "same as the browser" },
  { value: "id", label: "Bahasa Indonesia" },
  { value: "en", label: "English" },
];
const zones = [
  { value: "", label: "same as the browser" },
  ...Intl.supportedValuesOf("timeZone").map((zone) => ({ value: zone, label: zone.replaceAll("_", " ") })),
];
const neededName = needed("A name");

export function BusinessForm({ settings }: { settings: Settings }) {
  const api = useApi();
  const can = useCan();
  const action = useAction((body: Change) => api.write("PATCH", "/v1/settings", { body }), {
    refresh: ["/v1/settings", "/v1/session", "/v1/audit"],
    done: () => say("The settings are saved."),
  });
  const { name, language, time_zone: zone, merchant_id: id } = settings;
  const statements = useMembership()?.statement_time_zone;
  if (!can("settings:write"))
    return (
      <Facts>
        <Fact name="Name">{name}</Fact>
        <Fact name="Merchant">
          <Identity id={id} what="the merchant's identity" />
        </Fact>
        <Fact name="Language">{languages.find(({ value }) => value === (language ?? ""))?.label}</Fact>
        <Fact name="Time zone">{zone ?? `same as the browser; statements use days in ${statements}`}</Fact>
      </Facts>
    );
  const offered =
    zone === null || zones.some(({ value }) => value === zone) ? zones : [...zones, { value: zone, label: zone }];
  return (
    <div className="max-w-md space-y-4">
      <Form
        values={{ name, language: language ?? "", time_zone: zone ?? "" }}
        action={action}
        onSubmit={(values) =>
          action.run({
            name: (values.name ?? "").trim(),
            language: (values.language || null) as "id" | "en" | null,
            time_zone: values.time_zone || null,
          })
        }
      >
        <TextField
          name="name"
          label="Name"
          autoComplete="off"
          check={neededName}
          hint="Payers see it where they pay."
        />
        <SelectField
          name="language"
          label="Language"
          options={languages}
          hint="For people who have not chosen their own."
        />
        <SelectField
          name="time_zone"
          label="Time zone"
          options={offered}
          hint={`For people who have not chosen their own. Statements use days in ${statements}.`}
        />
        <Submit>Save</Submit>
      </Form>
      <p className="text-muted">
        Merchant <Identity id={id} what="the merchant's identity" />
      </p>
    </div>
  );
}
