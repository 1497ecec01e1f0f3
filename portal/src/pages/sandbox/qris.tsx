// The QRIS workbench: take a payment's code or any other, read it tag by tag, see the picture, change it, and pay.
import { useCan } from "../../api/place.ts";
import { useQueryText, useSetQuery } from "../../address.ts";
import { withSearch } from "../../paths.ts";
import { Empty } from "../../ui/empty.tsx";
import { Page as Frame, Section } from "../../ui/page.tsx";
import { Compose } from "./qris/compose.tsx";
import { PendingCodes, waiting } from "./qris/pending-codes.tsx";
import { ReadCode } from "./qris/read-code.tsx";

export function Page() {
  const can = useCan();
  return (
    <Frame
      title="QRIS workbench"
      lead="Read a QRIS code tag by tag and check its checksum. Take a payment's code, paste any other, or compose one."
      curl={{ path: withSearch("/v1/payments", waiting) }}
    >
      {can("sandbox:write") ? (
        <Workbench />
      ) : (
        <Empty title="Your role cannot use the workbench">Anyone but a viewer can use it in the sandbox.</Empty>
      )}
    </Frame>
  );
}

/** The text stands in the address: a code that reads strangely can be sent to somebody. */
function Workbench() {
  const { code = "" } = useQueryText();
  const setQuery = useSetQuery();
  const take = (text: string): void => setQuery({ code: text });
  return (
    <>
      <Section title="Read a code">
        {/* Made anew when another code is taken: what was typed is gone then. */}
        <ReadCode key={code} code={code} take={take} />
      </Section>
      <Section title="Codes of payments that wait">
        <PendingCodes take={take} />
      </Section>
      <Section title="Compose a code">
        <Compose take={take} />
      </Section>
    </>
  );
}
