// Branding: the logo and the colour of the pages on which payers pay.
import { useQuery } from "@tanstack/react-query";
import { useApi, useCan } from "../../api/place.ts";
import { Answer } from "../../ui/answer.tsx";
import { Page as Frame, Section } from "../../ui/page.tsx";
import { ColourForm } from "./branding/colour-form.tsx";
import { LogoForm } from "./branding/logo-form.tsx";
import { Preview } from "./branding/preview.tsx";

export function Page() {
  const api = useApi();
  const can = useCan();
  const settings = useQuery(api.read("/v1/settings"));
  return (
    <Frame title="Branding" lead="What payers see of you when they pay: your name, your logo and your colour.">
      <Answer of={settings}>
        {(found) => (
          <div className="grid gap-x-10 gap-y-8 md:grid-cols-2">
            <div className="space-y-8">
              {can("settings:write") ? (
                <>
                  <Section title="Logo">
                    <LogoForm settings={found} />
                  </Section>
                  <Section title="Colour">
                    <ColourForm settings={found} />
                  </Section>
                </>
              ) : (
                <p className="text-muted">An owner can change it.</p>
              )}
            </div>
            <Section title="What a payer sees">
              <Preview settings={found} />
            </Section>
          </div>
        )}
      </Answer>
    </Frame>
  );
}
