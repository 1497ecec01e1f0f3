// The journals of a settlement: its money set apart, and paid out or given back.
import { useQuery } from "@tanstack/react-query";
import { useApi, usePlace } from "../../api/place.ts";
import { paths } from "../../paths.ts";
import { Answer } from "../../ui/answer.tsx";
import { To } from "../../ui/link.tsx";
import { Time } from "../../ui/time.tsx";
import { Entries } from "../ledger/entries.tsx";

export function Journals({ group }: { group: string }) {
  const place = usePlace();
  const api = useApi();
  const journals = useQuery(api.read("/v1/journals", { query: { group } }));
  return (
    <Answer of={journals}>
      {({ data }) => (
        <ul className="space-y-4">
          {data.toReversed().map((journal) => (
            <li key={journal.id}>
              <p className="mb-1 flex flex-wrap items-baseline gap-x-3">
                <To to={paths.journal(place, journal.id)}>
                  {journal.kind.replaceAll("_", " ")}, no. {journal.seq}
                </To>
                <span className="text-xs text-muted">
                  <Time at={journal.posted_at} />
                </span>
              </p>
              <Entries of={journal.entries} label={`Entries of journal ${journal.seq}`} />
            </li>
          ))}
        </ul>
      )}
    </Answer>
  );
}
