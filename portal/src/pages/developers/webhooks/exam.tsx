// The exam of a receiver: genuine, forged, late and repeated deliveries, and what it made of each.
import { useQuery } from "@tanstack/react-query";
import { useAction } from "../../../api/action.ts";
import { useApi, useCan, usePlace } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { paths } from "../../../paths.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { Code } from "../../../ui/code.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { ErrorFace } from "../../../ui/face.tsx";
import { Page as Frame } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";

type Scorecard = Schema<"Scorecard">;
type Check = Schema<"ReceiverCheck">;

export function Page() {
  const place = usePlace();
  const api = useApi();
  const can = useCan();
  const isSandbox = place.environment === "sandbox";
  const settings = useQuery({ ...api.read("/v1/webhook"), enabled: isSandbox });
  const exam = useAction(
    (_: undefined, intent) => api.write("POST", "/v1/sandbox/webhook/exam", { body: {} }, intent),
    {
      refresh: [],
    },
  );
  const start = can("sandbox:write") && settings.data?.url && (
    <Button look="primary" pending={exam.pending} onClick={() => exam.run(undefined)}>
      {exam.result ? "Test it again" : "Test the receiver"}
    </Button>
  );
  return (
    <Frame
      title="Test of the receiver"
      lead="Whether your receiver accepts genuine deliveries, rejects forged ones, and copes with deliveries that come twice, late or out of order."
      above={{ to: paths.webhooks(place), label: "Webhooks" }}
      actions={start}
      curl={{ method: "POST", path: "/v1/sandbox/webhook/exam", body: {} }}
    >
      {isSandbox ? (
        <Answer of={settings}>
          {({ url }) =>
            url === null ? (
              <Empty title="No address yet" action={<ButtonLink to={paths.webhooks(place)}>Register one</ButtonLink>}>
                The test sends deliveries to your registered address.
              </Empty>
            ) : (
              <Result of={exam} url={url} />
            )
          }
        </Answer>
      ) : (
        <Empty title="Receivers are tested in the sandbox">
          Switch to the sandbox, and register the same receiver there.
        </Empty>
      )}
    </Frame>
  );
}

function Result({ of, url }: { of: ReturnType<typeof useAction<undefined, Scorecard>>; url: string }) {
  if (of.error) return <ErrorFace error={of.error} />;
  if (of.pending)
    return (
      <p role="status" aria-busy="true" className="text-muted">
        Sending to <code className="font-mono text-xs">{url}</code>. Some deliveries are slow on purpose: this takes up
        to half a minute.
      </p>
    );
  if (!of.result)
    return (
      <Empty title="Not tested yet">
        The test records no events. It sends a dozen deliveries to{" "}
        <code className="font-mono text-xs break-all">{url}</code>, some of them forged.
      </Empty>
    );
  const { passed, checks } = of.result;
  const good = checks.filter((check) => check.passed).length;
  return (
    <div className="space-y-4">
      <p className="text-lg font-semibold" role="status">
        <Status status={passed ? "passed" : "not passed"} tone={passed ? "good" : "bad"} />{" "}
        <span className="ml-2 font-normal text-muted">
          {good} of {checks.length} checks
        </span>
      </p>
      <ul className="space-y-2">
        {checks.map((check) => (
          <li key={check.name}>
            <CheckDetails of={check} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function CheckDetails({ of: { name, passed, guide, sent, received } }: { of: Check }) {
  const [advice, page, rule = ""] = guide.split(/ \((\/docs\/.*#(.*))\)$/);
  const lines = (headers: Readonly<Record<string, string>> | null): string =>
    Object.entries(headers ?? {})
      .map(([header, value]) => `${header}: ${value}`)
      .join("\n");
  return (
    <details open={!passed} className="rounded-md border border-line bg-panel">
      <summary className="flex min-h-10 flex-wrap items-center gap-x-4 px-4 py-2 hover:bg-hover">
        <Status status={passed ? "passed" : "failed"} tone={passed ? "good" : "bad"} />
        <span className="font-medium">{name.replaceAll("_", " ")}</span>
        <span className="ml-auto text-muted">
          {received.status ?? "no answer"} · {received.duration_ms} ms
        </span>
      </summary>
      <div className="space-y-3 border-t border-line px-4 py-3">
        {received.reason !== null && <p className="text-bad">{received.reason}</p>}
        <p>
          {advice}{" "}
          {page !== undefined && (
            <a className="link" href={page} target="_blank" rel="noreferrer">
              The rule: {rule.replaceAll("-", " ")}
            </a>
          )}
        </p>
        <div className="grid min-w-0 gap-4 lg:grid-cols-2">
          <div className="min-w-0">
            <h2 className="mb-1.5 font-medium">Sent</h2>
            <Code text={`${lines(sent.headers)}\n\n${sent.body}`} what={`what was sent for ${name}`} />
          </div>
          <div className="min-w-0">
            <h2 className="mb-1.5 font-medium">Answered</h2>
            <Code
              text={received.status === null ? "no answer" : `${lines(received.headers)}\n\n${received.body ?? ""}`}
              what={`what was answered for ${name}`}
            />
          </div>
        </div>
      </div>
    </details>
  );
}
