// One journal: what moved between which accounts, why, and its place in the chain.
import { useQuery } from "@tanstack/react-query";
import { usePart } from "../../../address.ts";
import { useApi, usePlace } from "../../../api/place.ts";
import type { Place } from "../../../api/client.ts";
import type { Schema } from "../../../api/types.ts";
import { pageOfObject, paths } from "../../../paths.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Code } from "../../../ui/code.tsx";
import { Identity } from "../../../ui/copy.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { To } from "../../../ui/link.tsx";
import { Page as Frame, Section } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { Entries } from "../../ledger/entries.tsx";

/** The page of what a journal belongs to. */
export function pageOfGroup(place: Place, group: string): string {
  return group.startsWith("set_") ? paths.settlement(place, group) : paths.payment(place, group);
}

export function Page() {
  const place = usePlace();
  const api = useApi();
  const id = usePart("journal_id");
  const journal = useQuery(api.read("/v1/journals/{journal_id}", { path: { journal_id: id } }));
  return (
    <Frame
      title="Journal"
      above={{ to: paths.balances(place), label: "Balances" }}
      beside={<Identity id={id} what="the journal's identity" />}
    >
      <Answer of={journal}>{(journal) => <Journal of={journal} />}</Answer>
    </Frame>
  );
}

function Journal({ of: journal }: { of: Schema<"Journal"> }) {
  const place = usePlace();
  // The operation key is the kind and the identity of what moved the money. A receipt has no page.
  const object = journal.operation_key.slice(journal.kind.length + 1);
  const pageOfIt = object === journal.group ? undefined : pageOfObject(place, object);
  return (
    <>
      <Facts>
        <Fact name="What happened">{journal.kind.replaceAll("_", " ")}</Fact>
        {pageOfIt !== undefined && (
          <Fact name="For">
            <To to={pageOfIt} className="link font-mono text-xs">
              {object}
            </To>
          </Fact>
        )}
        <Fact name="Belongs to">
          <To to={pageOfGroup(place, journal.group)} className="link font-mono text-xs">
            {journal.group}
          </To>
        </Fact>
        <Fact name="Number in the book">{journal.seq}</Fact>
        <Fact name="Posted">
          <Time at={journal.posted_at} />
        </Fact>
      </Facts>
      <Section title="Entries">
        <Entries of={journal.entries} label="Entries of the journal" />
        <p className="mt-2 text-muted">
          Debits equal credits in each currency: no money appears from nowhere. Debits are positive, so money that is
          yours is a balance below zero.
        </p>
      </Section>
      <Section title="In the chain">
        <p className="mb-2 max-w-2xl text-muted">
          The hash covers everything the journal says and the hash before it, so no journal before this one can be
          changed without changing this one.
        </p>
        <Facts>
          <Fact name="Hash before">
            <code className="font-mono text-xs break-all">{journal.prev_hash}</code>
          </Fact>
          <Fact name="Hash">
            <code className="font-mono text-xs break-all">{journal.hash}</code>
          </Fact>
        </Facts>
      </Section>
      <Section title="As the API tells it">
        <Code value={journal} what="the journal" />
      </Section>
    </>
  );
}
