// Forgetting a payer: who asked to be erased is looked for, and erased from all payments of this environment.
import { useState } from "react";
import { useCan } from "../../api/place.ts";
import { Page as Frame, Section } from "../../ui/page.tsx";
import { ErasePayer } from "./payers/erase-payer.tsx";
import { FindPayer, type Contact } from "./payers/find-payer.tsx";

export function Page() {
  const can = useCan();
  const [contact, setContact] = useState<Contact | undefined>(undefined);
  return (
    <Frame
      title="Forget a payer"
      lead="A payer can ask to be erased. Their name, e-mail address and telephone are removed; amounts, journals and events stay, so your books still add up."
    >
      {can("payers:erase") ? (
        <Section title="Who">
          <div className="max-w-md space-y-6">
            <FindPayer onFind={setContact} />
            {contact && <ErasePayer key={contact.text} contact={contact} />}
            <p className="text-muted">
              Descriptions, metadata, reference_ids and evidence in which you named the payer are your own text, so they
              stay too.
            </p>
          </div>
        </Section>
      ) : (
        <p className="text-muted">An owner can do this.</p>
      )}
    </Frame>
  );
}
