// Settings: the business's name, language and time zone, and what the operator has set for it.
import { useQuery } from "@tanstack/react-query";
import { useApi } from "../api/place.ts";
import { Answer } from "../ui/answer.tsx";
import { Page as Frame, Section } from "../ui/page.tsx";
import { BusinessForm } from "./settings/business-form.tsx";
import { Conditions } from "./settings/conditions.tsx";

export function Page() {
  const api = useApi();
  const settings = useQuery(api.read("/v1/settings"));
  return (
    <Frame title="Business" lead="How payers see you, and the terms on which you take payments.">
      <Answer of={settings}>
        {(found) => (
          <>
            <Section title="Your business">
              <BusinessForm settings={found} />
            </Section>
            <Section title="Set by the operator">
              <Conditions settings={found} />
            </Section>
          </>
        )}
      </Answer>
    </Frame>
  );
}
