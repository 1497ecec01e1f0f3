// One request: who sent it, what it was answered and why, and both bodies.
import { useQuery } from "@tanstack/react-query";
import { usePart } from "../../../address.ts";
import { useApi, useCan, usePlace } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { paths } from "../../../paths.ts";
import { Answer } from "../../../ui/answer.tsx";
import { ButtonLink } from "../../../ui/button.tsx";
import { Code } from "../../../ui/code.tsx";
import { Identity } from "../../../ui/copy.tsx";
import type { Call } from "../../../ui/curl.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { To } from "../../../ui/link.tsx";
import { Page as Frame, Section } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { AnswerStatus } from "./answer-status.tsx";
import { Bodies } from "./bodies.tsx";

type WholeRequest = Schema<"WholeLoggedRequest">;

export function Page() {
  const place = usePlace();
  const id = usePart("request_id");
  const asked = useQuery(useApi().read("/v1/requests/{request_id}", { path: { request_id: id } }));
  const { data } = asked;
  return (
    <Frame
      title={data ? `${data.method} ${data.path}` : "Request"}
      above={{ to: paths.requests(place), label: "Requests" }}
      beside={data && <AnswerStatus of={data} />}
      actions={data && <ToPayment of={data} />}
      curl={data && callOf(data)}
    >
      <Answer of={asked}>{(request) => <Whole request={request} />}</Answer>
    </Frame>
  );
}

function Whole({ request }: { request: WholeRequest }) {
  const place = usePlace();
  const { diagnosis, idempotency_key: key, query } = request;
  return (
    <div className="space-y-6">
      {diagnosis ? <Diagnosis of={diagnosis} /> : <Refusal of={request} />}
      <Facts>
        <Fact name="Request">
          <Identity id={request.request_id} what="the request id" />
        </Fact>
        <Fact name="Came">
          <Time at={request.at} />
        </Fact>
        <Fact name="Took">{request.duration_ms.toFixed(1)} ms</Fact>
        <Fact name="Key">
          <Identity id={request.client_id} what="the client_id" />
        </Fact>
        <Fact name="Signature">{request.proven ? "right" : "not proven: anybody may have sent it"}</Fact>
        <Fact name="Idempotency key">
          {key === null ? (
            <span className="text-muted">none</span>
          ) : (
            <To to={paths.idempotencyKey(place, key)} className="link font-mono text-xs break-all">
              {key}
            </To>
          )}
        </Fact>
        {query !== null && (
          <Fact name="Query">
            <code className="font-mono text-xs break-all">{query}</code>
          </Fact>
        )}
        {request.replayed && <Fact name="Replay">the stored answer of its idempotency key</Fact>}
      </Facts>
      <Bodies request={request.request} response={request.response} />
    </div>
  );
}

function Diagnosis({ of }: { of: Schema<"SignatureDiagnosis"> }) {
  return (
    <Section title="Why the signature was refused">
      <div className="rounded-md border border-warn/50 bg-panel px-4 py-3">
        <p className="max-w-3xl">{of.explanation}</p>
        <p className="mt-1 text-xs text-muted">
          <code className="font-mono">{of.diagnosis}</code>
          {of.subject !== null && (
            <>
              {" "}
              about <code className="font-mono">{of.subject}</code>
            </>
          )}
        </p>
        {of.signature_base !== null && (
          <div className="mt-3">
            <p className="mb-1.5 text-xs text-muted">This text should have been signed:</p>
            <Code text={of.signature_base} what="the signature base" />
          </div>
        )}
      </div>
    </Section>
  );
}

/** The sentence of an error's answer: in the body below it is one long line among others. */
function Refusal({ of: { error_code: code, response } }: { of: WholeRequest }) {
  if (code === null || response.text === null) return null;
  const { error } = JSON.parse(response.text) as { error?: { message?: string } };
  if (error?.message === undefined) return null;
  return <p className="rounded-md border border-warn/50 bg-panel px-4 py-3 wrap-anywhere">{error.message}</p>;
}

/** The payment that the answer is about, where it is about one. */
function ToPayment({ of: { path, response } }: { of: WholeRequest }) {
  const place = usePlace();
  const can = useCan();
  const [reference] = /\bpay_[0-9a-z]{26}\b/.exec(`${path} ${response.text ?? ""}`) ?? [];
  if (reference === undefined || !can("payments:read")) return null;
  return <ButtonLink to={paths.payment(place, reference)}>Open the payment</ButtonLink>;
}

/** The request again, as far as it is kept. */
function callOf({ method, path, query, request }: WholeRequest): Call | undefined {
  if (!isMethod(method) || request.omitted !== null) return undefined;
  const body = request.text === null ? undefined : (JSON.parse(request.text) as object);
  return { method, path: query === null ? path : `${path}?${query}`, body };
}

function isMethod(method: string): method is NonNullable<Call["method"]> {
  return ["GET", "POST", "PUT", "PATCH", "DELETE"].includes(method);
}
