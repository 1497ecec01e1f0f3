// Beside the wall's plots: how each acquirer is, why payments did not succeed, what waits, and which processes live.
import type { ReactNode } from "react";
import { Status } from "../../../ui/status.tsx";
import { CircuitStrip } from "../acquirers/circuit-strip.tsx";
import { kindOf } from "../waiting/kinds.ts";
import type { WallPicture } from "./live.ts";
import { count, milliseconds, share } from "./words.ts";

const tones = { well: "good", failing: "warn", down: "bad", off: "calm" } as const;
const severity = { down: 0, failing: 1, well: 2, off: 3 } as const;

export function Side({ of }: { of: WallPicture }) {
  return (
    <div className="flex min-h-0 flex-col gap-3 overflow-y-auto">
      <Acquirers of={of} />
      <Methods of={of} />
      <Reasons of={of} />
      <Waiting of={of} />
      <Processes of={of} />
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="rounded-md border border-line bg-panel px-4 py-2.5">
      <h2 className="mb-1 text-[clamp(0.8125rem,0.85vw,1.125rem)] font-medium">{title}</h2>
      <div className="text-[clamp(0.8125rem,0.8vw,1.0625rem)] leading-snug">{children}</div>
    </section>
  );
}

const Nothing = ({ children }: { children: ReactNode }) => <p className="text-muted">{children}</p>;

/** What is worst comes first: it is read first. */
function Acquirers({ of: { acquirers } }: { of: WallPicture }) {
  const sorted = acquirers.toSorted((one, other) => severity[one.state] - severity[other.state]);
  return (
    <Part title="Acquirers">
      {sorted.length === 0 && <Nothing>None of this environment.</Nothing>}
      <ul>
        {sorted.map(({ gateway_code: code, name, state, circuits, left_alone: leftAlone }) => {
          const open = circuits.filter((circuit) => circuit.state !== "closed");
          const failures = circuits.reduce((sum, circuit) => sum + circuit.failures, 0);
          const calls = circuits.reduce((sum, circuit) => sum + circuit.calls, 0);
          return (
            <li key={code} className="flex flex-wrap items-baseline justify-between gap-x-3 py-0.5">
              <span className="min-w-0 truncate">{name}</span>
              <Status status={state === "well" ? "healthy" : state} tone={tones[state]} />
              {(open.length > 0 || failures > 0) && (
                <span className="w-full text-muted">
                  {failures} of the latest {calls} calls failed
                  {open.length > 0 && ` · circuit open for ${open.map((circuit) => circuit.payment_method).join(", ")}`}
                </span>
              )}
              {leftAlone.includes(true) && (
                <div className="w-full">
                  <CircuitStrip of={name} leftAlone={leftAlone} />
                </div>
              )}
            </li>
          );
        })}
      </ul>
    </Part>
  );
}

function Methods({ of: { payments } }: { of: WallPicture }) {
  return (
    <Part title="Succeeded, by method">
      {payments.by_method.length === 0 && <Nothing>No payment has ended.</Nothing>}
      <ul>
        {payments.by_method.map(({ key, total }) => {
          const ended = total.succeeded + total.failed + total.rejected + total.expired;
          return (
            <li key={key} className="flex items-baseline justify-between gap-3 py-0.5">
              <span>{key.replaceAll("_", " ")}</span>
              <span>
                <span className="mr-3 text-muted">{count(ended)}</span>
                <span className="inline-block min-w-14 text-right font-medium">{share(total.succeeded, ended)}</span>
              </span>
            </li>
          );
        })}
      </ul>
    </Part>
  );
}

const reasons: Record<WallPicture["payments"]["by_reason"][number]["reason"], string> = {
  declined: "declined by the acquirer",
  not_taken: "no acquirer took it",
  risk: "refused for their risk",
  unpaid: "nobody paid in time",
  canceled: "canceled by the merchant",
};

function Reasons({ of: { payments } }: { of: WallPicture }) {
  if (payments.by_reason.length === 0) return null;
  return (
    <Part title="Why others did not">
      <ul>
        {payments.by_reason.map(({ reason, payments: ended }) => (
          <li key={reason} className="flex justify-between gap-3 py-0.5">
            <span>{reasons[reason]}</span>
            <span className="font-medium">{count(ended)}</span>
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Waiting({ of: { waiting } }: { of: WallPicture }) {
  const waits = waiting.filter((queue) => queue.count > 0);
  return (
    <Part title="Waiting">
      {waits.length === 0 && <Nothing>Nothing waits for a person.</Nothing>}
      <ul>
        {waits.map(({ kind, count: number, is_more: more }) => (
          <li key={kind} className="flex justify-between gap-3 py-0.5">
            <span>{kindOf(kind).name}</span>
            <span className="font-medium text-warn">
              {number}
              {more && "+"}
            </span>
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Processes({ of: { processes, now } }: { of: WallPicture }) {
  return (
    <Part title="Processes">
      <p>
        {processes.alive} running · {processes.versions.join(", ")}
        {processes.lost > 0 && <span className="font-medium text-bad"> · {processes.lost} lost in the last hour</span>}
      </p>
      <p className="text-muted">
        {count(now.memory_mib)} MiB · {count(now.cpu_percent)} % of a processor · {count(now.connections_busy)}{" "}
        connections busy
        {now.connections_waiting > 0 && `, ${count(now.connections_waiting)} wait`} · clocks within{" "}
        {milliseconds(now.clock_skew_ms)}
      </p>
    </Part>
  );
}
