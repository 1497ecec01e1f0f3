// Acquirers: whether each one takes payments, how its latest calls went, what it charges, and the switch.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refresh } from "../../api/action.ts";
import { Answer } from "../../ui/answer.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { Page as Frame } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { say } from "../../ui/toast.tsx";
import { type Schema, read, write } from "../api/client.ts";
import { useMay } from "../api/rights.ts";
import { at } from "../paths.ts";
import { Costs } from "./acquirers/costs.tsx";
import { endedOf, useHealth } from "./acquirers/health.ts";
import { PeriodChoice, usePeriod } from "./acquirers/period.tsx";
import type { Period } from "./wall/live.ts";
import { milliseconds, share } from "./wall/words.ts";

type Acquirer = Schema<"Acquirer">;
type Change = Schema<"UpdateAcquirer">;

export function Page() {
  const acquirers = useQuery({ ...read("/v1/acquirers"), refetchInterval: 5_000 });
  const period = usePeriod();
  return (
    <Frame
      title="Acquirers"
      lead="Who takes payments, how they are doing now, and how they have been doing."
      actions={<PeriodChoice of={period} />}
      curl={{ path: "/v1/acquirers" }}
    >
      <Answer of={acquirers}>
        {({ data }) => (
          <div className="grid items-start gap-4 lg:grid-cols-2">
            {data.map((one) => (
              <Card key={one.gateway_code} of={one} others={data} period={period} />
            ))}
          </div>
        )}
      </Answer>
    </Frame>
  );
}

interface CardProps {
  of: Acquirer;
  others: readonly Acquirer[];
  period: Period;
}

function Card({ of: acquirer, others, period }: CardProps) {
  const { gateway_code: code, name, environment, enabled, health, methods, circuits } = acquirer;
  const overTime = useHealth(code, period).data?.methods;
  const mayChange = useMay()("admin");
  const queries = useQueryClient();
  const [change, setChange] = useState<Change | undefined>(undefined);
  const [charging, setCharging] = useState(false);
  const apply = async (body: Change): Promise<void> => {
    const answer = await write("PATCH", "/v1/acquirers/{gateway_code}", { path: { gateway_code: code }, body });
    if ("approval" in answer) say("A second operator has to approve it. Until then nothing changes.", "quiet");
    else say(`${name} is ${answer.enabled ? answer.health : "switched off"}.`);
    await refresh(queries, ["/v1/acquirers"]);
  };
  const alone = methods.filter(
    (method) =>
      !others.some(
        (other) =>
          other !== acquirer &&
          other.environment === environment &&
          other.enabled &&
          other.health !== "down" &&
          other.methods.includes(method),
      ),
  );
  return (
    <section
      aria-label={name}
      className={`relative rounded-md border border-line bg-panel p-4 ${environment === "sandbox" ? "overflow-hidden" : ""}`}
    >
      {environment === "sandbox" && <div aria-hidden="true" className="stripes absolute inset-y-0 left-0 w-1" />}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="text-base font-semibold">{name}</h2>
        <code className="font-mono text-xs text-muted">
          {code} · {environment}
        </code>
        <span className="ml-auto">
          <State of={acquirer} />
        </span>
      </div>
      <table className="mt-3 w-full border-collapse text-left">
        <thead className="border-b border-line text-xs text-muted">
          <tr>
            <th scope="col" className="py-1.5 font-medium">
              Method
            </th>
            <th scope="col" className="py-1.5 pl-4 font-medium">
              Circuit
            </th>
            <th scope="col" className="py-1.5 pl-4 text-right font-medium">
              Succeeded
            </th>
            <th scope="col" className="py-1.5 pl-4 text-right font-medium">
              Call time
            </th>
            <th scope="col" className="hidden py-1.5 pl-4 text-right font-medium sm:table-cell">
              Latest failed
            </th>
          </tr>
        </thead>
        <tbody>
          {methods.map((method) => {
            const circuit = circuits.find(({ payment_method: of }) => of === method);
            const found = overTime?.find(({ payment_method: of }) => of === method);
            return (
              <tr key={method} className="border-b border-line last:border-b-0">
                <td className="h-8">{method.replaceAll("_", " ")}</td>
                <td className="pl-4">
                  <Circuit state={circuit?.state} />
                </td>
                <td className="pl-4 text-right">{found ? share(found.total.succeeded, endedOf(found)) : ""}</td>
                <td className="pl-4 text-right whitespace-nowrap">
                  {found && (found.call_ms_mean === null ? "–" : milliseconds(found.call_ms_mean))}
                </td>
                <td className="hidden pl-4 text-right sm:table-cell">
                  {circuit ? `${circuit.failures} of ${circuit.calls}` : "none lately"}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <div className="mt-3 flex flex-wrap gap-2">
        <ButtonLink to={at.acquirer(code, period)}>
          Over time<span className="sr-only"> of {name}</span>
        </ButtonLink>
        <Button label={`Costs… of ${name}`} onClick={() => setCharging(true)}>
          Costs…
        </Button>
        {mayChange && (
          <span className="ml-auto flex flex-wrap gap-2">
            {health !== "healthy" && enabled && (
              <Button label={`Well again… ${name}`} onClick={() => setChange({ health: "healthy" })}>
                Well again…
              </Button>
            )}
            {health === "healthy" && enabled && (
              <Button label={`Degraded… ${name}`} onClick={() => setChange({ health: "degraded" })}>
                Degraded…
              </Button>
            )}
            <Button
              look={enabled ? "danger" : "primary"}
              label={enabled ? `Switch off… ${name}` : `Switch on… ${name}`}
              onClick={() => setChange({ enabled: !enabled })}
            >
              {enabled ? "Switch off…" : "Switch on…"}
            </Button>
          </span>
        )}
      </div>
      {change && (
        <Confirm
          open
          onClose={() => setChange(undefined)}
          title={titleOf(name, change)}
          verb={verbOf(change)}
          look={change.enabled === false ? "danger" : "primary"}
          onConfirm={() => apply(change)}
        >
          <p>{consequenceOf(name, change)}</p>
          {change.enabled === false && alone.length > 0 && (
            <p className="font-medium text-bad">
              No other acquirer takes {alone.join(", ")} now: such payments are refused with NO_ROUTE_AVAILABLE until it
              is switched on again.
            </p>
          )}
        </Confirm>
      )}
      {charging && <Costs of={acquirer} mayChange={mayChange} close={() => setCharging(false)} />}
    </section>
  );
}

/** What is stated of it and what its latest calls say, in the words of the wall: one that is stated healthy may fail all the same. */
function State({ of: { enabled, health, circuits } }: { of: Acquirer }) {
  if (!enabled) return <Status status="switched off" tone="bad" />;
  if (health === "down" || circuits.some(({ state }) => state === "open")) return <Status status="down" tone="bad" />;
  if (health === "degraded") return <Status status="degraded" tone="warn" />;
  const fails = circuits.some(({ state, failures }) => state === "probing" || failures > 0);
  return <Status status={fails ? "failing" : "healthy"} tone={fails ? "warn" : "good"} />;
}

function Circuit({ state }: { state: Schema<"Circuit">["state"] | undefined }) {
  if (state === undefined) return <span className="text-muted">not called</span>;
  return <Status status={state} tone={state === "closed" ? "good" : state === "open" ? "bad" : "warn"} />;
}

function titleOf(name: string, { enabled, health }: Change): string {
  if (enabled !== undefined) return `Switch ${name} ${enabled ? "on" : "off"}?`;
  return health === "healthy" ? `Is ${name} healthy again?` : `Is ${name} degraded?`;
}

function verbOf({ enabled, health }: Change): string {
  if (enabled !== undefined) return enabled ? "Switch it on" : "Switch it off";
  return health === "healthy" ? "It is healthy" : "It is degraded";
}

function consequenceOf(name: string, { enabled, health }: Change): string {
  if (enabled === false)
    return `${name} takes no new payments, in every process within a second; the rules move on to the next acquirer. Payments that it already has stay with it and can still be paid.`;
  if (enabled === true) return `${name} takes payments again by the rules, in every process within a second.`;
  return health === "healthy"
    ? `${name} takes its full share again.`
    : `${name} keeps a tenth of its payments, to show when it is healthy again. The others go to healthy acquirers.`;
}
