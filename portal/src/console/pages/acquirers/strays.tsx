// What an acquirer sent that fits nothing: it changed nothing, and a person looks at it.
import { useQuery } from "@tanstack/react-query";
import { Exchanged } from "../../../pages/payments/reference/exchanged.tsx";
import { Answer } from "../../../ui/answer.tsx";
import { Section } from "../../../ui/page.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { Time } from "../../../ui/time.tsx";
import { type Schema, read } from "../../api/client.ts";

export function Strays({ code }: { code: string }) {
  const strays = useQuery(read("/v1/acquirers/{gateway_code}/stray-messages", { path: { gateway_code: code } }));
  return (
    <Section title="Messages that fit nothing">
      <Answer of={strays} skeleton={<Skeleton className="h-10 w-full" />}>
        {({ data, is_more: isMore }) =>
          data.length === 0 ? (
            <p className="text-muted">Every message that it sent was about something that it had been asked for.</p>
          ) : (
            <>
              <ol aria-label="Messages that fit nothing" className="space-y-2">
                {data.map((one, at) => (
                  <li key={`${one.operation_key} ${at}`}>
                    <Stray of={one} />
                  </li>
                ))}
              </ol>
              {isMore && <p className="mt-2 text-muted">Older ones are left out: these are the newest hundred.</p>}
            </>
          )
        }
      </Answer>
    </Section>
  );
}

const kinds: Record<NonNullable<Schema<"StrayMessage">["kind"]>, string> = {
  payment: "Payment",
  refund: "Refund",
  dispute: "Dispute",
  look: "Some change",
  refund_elsewhere: "Refund made by somebody else",
};

const reasons: Record<Schema<"StrayMessage">["reason"], string> = {
  "unknown operation": "about something that it was never asked for",
  refused: "contradicting what is known",
  "earlier attempt": "about a call that was given up",
  unreadable: "that could not be understood",
};

function Stray({ of: one }: { of: Schema<"StrayMessage"> }) {
  return (
    <Exchanged
      at={one.last_at}
      what={
        <>
          {one.kind === null ? "A message" : kinds[one.kind]}, {reasons[one.reason]}
          {one.times > 1 && (
            <span className="font-normal text-muted">
              {" "}
              · {one.times} times since <Time at={one.first_at} shape="minute" />
            </span>
          )}
        </>
      }
      about={one.operation_key || (one.about ?? "message")}
      status={null}
      awaited={false}
      text={one.text ?? "Its text was not kept."}
    />
  );
}
