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
      lead="A payer may ask you to be erased. Their name, e-mail address and telephone go; amounts, journals and events stay, so your books add up as before."
    >
      {can("payers:erase") ? (
        <Section title="Who">
          <div className="max-w-md space-y-6">
            <FindPayer onFind={setContact} />
            {contact && <ErasePayer key={contact.text} contact={contact} />}
            <p className="text-muted">
              A description, metadata, a reference_id or evidence in which you named the payer are your own words, and
              stay as well.
            </p>
          </div>
        </Section>
      ) : (
        <p className="text-muted">An owner may do this.</p>
      )}
    </Frame>
  );
}
