// One acquirer over time: for each of its methods how many payments succeeded, how long a call took, and when it was left alone.
import { useMemo } from "react";
import { usePart } from "../../../address.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { Page as Frame, Section } from "../../../ui/page.tsx";
import { Plot } from "../../../ui/plot.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { Status } from "../../../ui/status.tsx";
import type { Schema } from "../../api/client.ts";
import { at } from "../../paths.ts";
import { Plain } from "../merchants/plain.tsx";
import { count, milliseconds, share } from "../wall/words.ts";
import { CircuitStrip } from "./circuit-strip.tsx";
import { Strays } from "./strays.tsx";
import { type MethodHealth, endedOf, isCalled, useHealth } from "./health.ts";
import { PeriodChoice, usePeriod } from "./period.tsx";

type Health = Schema<"AcquirerHealthOverTime">;

export function Page() {
  const code = usePart("code");
  const period = usePeriod();
  const health = useHealth(code, period);
  return (
    <Frame
      title={health.data?.name ?? code}
      above={{ to: at.acquirers(period), label: "Acquirers" }}
      beside={
        <code className="font-mono text-xs text-muted">
          {code}
          {health.data && ` · ${health.data.environment}`}
        </code>
      }
      lead="How many payments succeeded with each of its methods, how long its calls took, and when its circuit was open."
      actions={<PeriodChoice of={period} />}
      curl={{ path: `/v1/acquirers/${code}/health?period=${period}` }}
    >
      <Answer of={health} skeleton={<Skeleton className="h-[32rem] w-full" />}>
        {(health) => (
          <>
            <Methods of={health} />
            <Strays code={code} />
          </>
        )}
      </Answer>
    </Frame>
  );
}

function Methods({ of: health }: { of: Health }) {
  const [busy, quiet] = useMemo(
    () => [
      health.methods.filter((method) => method.total.asked > 0 || endedOf(method) > 0 || isCalled(method)),
      health.methods.filter((method) => !(method.total.asked > 0 || endedOf(method) > 0 || isCalled(method))),
    ],
    [health],
  );
  return (
    <>
      {busy.length === 0 && (
        <Empty title="Nothing happened with it in this period">
          This page counts the payments that the routing rules send to it, and shows how its calls went.
        </Empty>
      )}
      {busy.length > 0 && <Figures of={busy} />}
      {busy.map((method) => (
        <Method key={method.payment_method} of={method} at={health.at} />
      ))}
      {quiet.length > 0 && (
        <p className="text-muted">
          Nothing in this period: {quiet.map(({ payment_method: method }) => method.replaceAll("_", " ")).join(", ")}.
        </p>
      )}
    </>
  );
}

function Figures({ of: methods }: { of: readonly MethodHealth[] }) {
  return (
    <Plain
      label="Its methods over the period"
      heads={[
        { head: "Method" },
        { head: "Succeeded", align: "right" },
        { head: "Of payments", align: "right", from: "wide" },
        { head: "Time of a call", align: "right" },
        { head: "Calls that failed", align: "right", from: "wide" },
        { head: "Circuit now", align: "right" },
      ]}
      rows={methods.map((method) => ({
        key: method.payment_method,
        cells: [
          method.payment_method.replaceAll("_", " "),
          <span key="share" className="font-medium">
            {share(method.total.succeeded, endedOf(method))}
          </span>,
          count(endedOf(method)),
          method.call_ms_mean === null ? "–" : milliseconds(method.call_ms_mean),
          method.calls_in_all === 0 ? "–" : `${count(method.failed_in_all)} of ${count(method.calls_in_all)}`,
          <Circuit key="circuit" of={method} />,
        ],
      }))}
    />
  );
}

const tones = { closed: "good", open: "bad", probing: "warn" } as const;

function Circuit({ of: { circuit } }: { of: MethodHealth }) {
  if (!circuit) return <span className="text-muted">not called</span>;
  return <Status status={circuit.state} tone={tones[circuit.state]} />;
}

const percent = (value: number): string => `${value.toFixed(value >= 100 ? 0 : 1)} %`;

function Method({ of: method, at: begins }: { of: MethodHealth; at: readonly string[] }) {
  const { succeeded, ended, call_ms: callMs } = method;
  const name = method.payment_method.replaceAll("_", " ");
  // The span that still runs has less in it than it will have: a line would seem to fall.
  const plotted = useMemo(
    () => ({
      at: begins.slice(0, -1),
      shares: [
        {
          label: "succeeded",
          values: ended.slice(0, -1).map((all, span) => (all === 0 ? null : ((succeeded[span] ?? 0) / all) * 100)),
        },
      ],
      times: [{ label: "time of a call", values: callMs.slice(0, -1) }],
    }),
    [begins, succeeded, ended, callMs],
  );
  return (
    <Section title={name}>
      <div className="grid grid-cols-1 gap-3 lg:grid-cols-2">
        <Plot
          label={`${name}: payments that succeeded`}
          at={plotted.at}
          series={plotted.shares}
          format={percent}
          height={130}
        />
        {isCalled(method) && (
          <Plot
            label={`${name}: time of a call`}
            at={plotted.at}
            series={plotted.times}
            format={milliseconds}
            height={130}
          />
        )}
      </div>
      {isCalled(method) && (
        <div className="mt-3">
          <CircuitStrip of={method.payment_method} leftAlone={method.left_alone} />
        </div>
      )}
    </Section>
  );
}
