// One idempotency key: what is on record, each request that used it, and what a conflict changed.
import { useQuery } from "@tanstack/react-query";
import { usePart } from "../../../address.ts";
import { useApi, usePlace } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { paths } from "../../../paths.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Copy } from "../../../ui/copy.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { Page as Frame, Section } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { BodySection } from "../requests/bodies.tsx";
import { Comparison } from "./comparison.tsx";
import { RecordStatus } from "./record-status.tsx";
import { Uses } from "./uses.tsx";

export function Page() {
  const place = usePlace();
  const key = usePart("key");
  const asked = useQuery(useApi().read("/v1/idempotency-keys/{key}", { path: { key } }));
  return (
    <Frame
      title="Idempotency key"
      above={{ to: paths.idempotency(place), label: "Idempotency" }}
      beside={
        <span className="inline-flex min-w-0 items-center gap-1">
          <code className="min-w-0 font-mono text-xs break-all">{key}</code>
          <Copy text={key} what="the key" />
        </span>
      }
    >
      <Answer of={asked}>{(found) => <Whole of={found} />}</Answer>
    </Frame>
  );
}

function Whole({ of }: { of: Schema<"WholeIdempotencyKey"> }) {
  const { record, uses, requests, replays, conflicts, stored_response: stored } = of;
  const first = uses.find(({ outcome }) => outcome === "answered" || outcome === "in_progress");
  const conflict = uses.findLast(({ outcome }) => outcome === "conflict");
  return (
    <div className="space-y-6">
      <Facts>
        <Fact name="On record">
          <RecordStatus of={record} />
        </Fact>
        <Fact name="Bound to">
          <code className="font-mono text-xs">{record?.endpoint ?? "nothing"}</code>
        </Fact>
        {record && (
          <Fact name="First seen">
            <Time at={record.first_seen_at} />
          </Fact>
        )}
        {record && (
          <Fact name="Kept until">
            <Time at={record.expires_at} />
          </Fact>
        )}
        <Fact name="Requests in the log">{requests}</Fact>
        <Fact name="Replays, conflicts">
          {replays}, {conflicts}
        </Fact>
      </Facts>
      {record === null && (
        <p className="text-muted">
          Nothing is stored under this key: its requests were refused before anything was decided, or it is older than
          72 hours. You can use the same key again.
        </p>
      )}
      {first && conflict && <Comparison first={first} conflict={conflict} />}
      <Uses of={uses} all={requests} />
      {stored ? (
        <BodySection title="Stored answer" body={stored} />
      ) : (
        record && (
          <Section title="Stored answer">
            <p className="text-muted">
              None yet: the first request is still running. Until then, replays are told to wait.
            </p>
          </Section>
        )
      )}
    </div>
  );
}
