// What the draft would have made of past payments: the two numbers first, then who would have moved, by method, acquirer and day.
import { useState } from "react";
import { useAction } from "../../../api/action.ts";
import { Button } from "../../../ui/button.tsx";
import { classes } from "../../../ui/classes.ts";
import { ErrorNote } from "../../../ui/face.tsx";
import { digitsOf } from "../../../ui/money.tsx";
import { Section } from "../../../ui/page.tsx";
import { Plot } from "../../../ui/plot.tsx";
import { type Language, useLanguage } from "../../../words.ts";
import { type Schema, write } from "../../api/client.ts";

type Result = Schema<"RoutingWhatIf">;
type Outcome = Schema<"WhatIfOutcome">;
type Sides = { before: Outcome; after: Outcome };

export function WhatIf({ rules, isValid }: { rules: readonly object[]; isValid: boolean }) {
  const [days, setDays] = useState("7");
  const [environment, setEnvironment] = useState<"sandbox" | "production">("sandbox");
  const [asked, setAsked] = useState("");
  const action = useAction((body: Schema<"AskWhatIf">) => write("POST", "/v1/routing/what-if", { body }), {
    refresh: ["nothing"],
  });
  const ask = async (): Promise<void> => {
    setAsked(JSON.stringify(rules));
    await action.run({ rules: rules as Schema<"RoutingRule">[], days: Number(days), environment });
  };
  return (
    <Section
      title="What if these rules had decided?"
      actions={
        <>
          <select
            aria-label="Payments of the last"
            className="field"
            value={days}
            onChange={(event) => setDays(event.target.value)}
          >
            <option value="1">Last day</option>
            <option value="7">Last 7 days</option>
            <option value="30">Last 30 days</option>
            <option value="90">Last 90 days</option>
          </select>
          <select
            aria-label="Environment"
            className="field"
            value={environment}
            onChange={(event) => setEnvironment(event.target.value as typeof environment)}
          >
            <option value="sandbox">Sandbox</option>
            <option value="production">Production</option>
          </select>
          <Button disabled={!isValid} pending={action.pending} onClick={ask}>
            What if?
          </Button>
        </>
      }
    >
      {action.error && <ErrorNote error={action.error} />}
      {action.result ? (
        <Answer result={action.result} isOld={asked !== JSON.stringify(rules)} />
      ) : (
        <p className="max-w-2xl text-muted">
          Routes the payments of these days again by the rules above, without changing anything. Payments that stay keep
          their outcome; payments that move are judged by how their new acquirer did with similar payments.
        </p>
      )}
    </Section>
  );
}

const ended = {
  all: "All payments of these days were counted.",
  limit: "Only the newest payments were counted, up to the limit of a what-if, so some days may be incomplete.",
  time: "Reading took too long, so only the newest payments were counted.",
};

function Answer({ result, isOld }: { result: Result; isOld: boolean }) {
  const language = useLanguage();
  const { total, payments, moved } = result;
  if (payments === 0) return <p className="text-muted">No payment was routed in these days.</p>;
  return (
    <div className={classes("space-y-4", isOld && "opacity-60")}>
      {isOld && (
        <p role="status" className="text-warn">
          The rules have changed since. Ask again.
        </p>
      )}
      <div className="grid gap-3 sm:grid-cols-3">
        <Figure name="Success" before={rateOf(total.before)} after={rateOf(total.after)} note={boundsOf(total.after)} />
        <Figure
          name="Cost, of what is paid"
          before={costOf(total.before)}
          after={costOf(total.after)}
          note={aboutCost(total, language)}
        />
        <Figure
          name="Payments that would move"
          before={moved.toLocaleString("en")}
          note={`of ${payments.toLocaleString("en")}. ${ended[result.ended]}`}
        />
      </div>
      {result.per_day.length > 1 && (
        <Plot
          label="Success by day"
          at={result.per_day.map(({ date }) => `${date}T00:00:00Z`)}
          series={[
            { label: "after", values: result.per_day.map(({ after }) => after.success_rate) },
            { label: "before", values: result.per_day.map(({ before }) => before.success_rate) },
          ]}
          format={percent}
          axis={percent}
          height={200}
        />
      )}
      <Comparison
        label="By method and acquirer"
        rows={result.cells.map((cell) => ({ name: [cell.payment_method, cell.gateway_code ?? "nobody"], ...cell }))}
        heads={["Method", "Acquirer"]}
      />
      {result.moves.length > 0 && (
        <Comparison
          label="Who would move"
          rows={result.moves.map((move) => ({
            name: [move.payment_method, `${move.from ?? "nobody"} → ${move.to ?? "nobody"}`],
            ...move,
          }))}
          heads={["Method", "From and to"]}
        />
      )}
      {result.estimates.length > 0 && <Estimates of={result.estimates} />}
    </div>
  );
}

function Figure({ name, before, after, note }: { name: string; before: string; after?: string; note?: string }) {
  return (
    <dl className="rounded-md border border-line bg-panel px-4 py-3">
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="mt-1 text-lg font-semibold">
        {before}
        {after !== undefined && (
          <>
            <span className="mx-2 font-normal text-muted">→</span>
            {after}
          </>
        )}
      </dd>
      {note !== undefined && note !== "" && <dd className="mt-0.5 text-xs text-muted">{note}</dd>}
    </dl>
  );
}

function Comparison({
  label,
  heads,
  rows,
}: {
  label: string;
  heads: readonly string[];
  rows: readonly ({ name: readonly string[] } & Sides)[];
}) {
  return (
    <div
      role="group"
      aria-label={label}
      tabIndex={-1}
      className="overflow-x-auto rounded-md border border-line bg-panel"
    >
      <table className="w-full border-collapse text-left">
        <caption className="px-4 pt-3 pb-1 text-left font-medium">{label}</caption>
        <thead className="border-b border-line text-xs text-muted">
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col" className="px-3 py-1.5 font-medium first:pl-4">
                {head}
              </th>
            ))}
            {["Payments", "Success", "Unknown", "Cost"].map((head) => (
              <th key={head} scope="col" className="px-3 py-1.5 text-right font-medium last:pr-4">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, before, after }) => (
            <tr key={name.join("/")} className="border-b border-line last:border-b-0">
              {name.map((one) => (
                <td key={one} className="h-9 px-3 py-1.5 first:pl-4">
                  {one}
                </td>
              ))}
              <Change before={before.payments.toLocaleString("en")} after={after.payments.toLocaleString("en")} />
              <Change before={rateOf(before)} after={rateOf(after)} />
              <td className="px-3 text-right">{after.unknown === 0 ? "" : after.unknown.toLocaleString("en")}</td>
              <Change before={costOf(before)} after={costOf(after)} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Change({ before, after }: { before: string; after: string }) {
  return (
    <td className="px-3 text-right whitespace-nowrap last:pr-4">
      {before === after ? (
        before
      ) : (
        <>
          <span className="text-muted">{before} →</span> {after}
        </>
      )}
    </td>
  );
}

function Estimates({ of: estimates }: { of: Result["estimates"] }) {
  return (
    <details>
      <summary className="inline-flex min-h-6 items-center text-muted hover:text-ink">
        How moved payments were judged
      </summary>
      <ul className="mt-1 space-y-1">
        {estimates.map((one) => (
          <li key={`${one.gateway_code} ${one.payment_method} ${one.currency} ${one.amount_from_minor}`}>
            <strong className="font-medium">
              {one.gateway_code}, {one.payment_method}, {one.currency}
            </strong>
            {one.amount_from_minor === null ? "" : `, ${one.amount_from_minor} to ${one.amount_to_minor}`}:{" "}
            {one.known
              ? `${percent(one.success_rate ?? 0)} of ${one.observations} (${percent(one.low ?? 0)} to ${percent(one.high ?? 0)}), for ${one.attempts} payments`
              : `only ${one.observations} observations, so ${one.attempts} payments are unknown`}
          </li>
        ))}
      </ul>
    </details>
  );
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function rateOf({ success_rate: rate, attempts }: Outcome): string {
  if (attempts === 0) return "none";
  return rate === null ? "unknown" : percent(rate);
}

function boundsOf({ unknown, attempts, success_rate_least: least, success_rate_most: most }: Outcome): string {
  if (attempts === 0) return "No payment has ended yet.";
  if (unknown === 0) return `of ${attempts.toLocaleString("en")} payments that ended`;
  return `${unknown.toLocaleString("en")} of ${attempts.toLocaleString("en")} unknown: from ${percent(least ?? 0)} to ${percent(most ?? 0)}`;
}

/** What share of what is paid it costs, in each currency. Where nothing is known of it there is no number. */
function costOf(outcome: Outcome): string {
  const { attempts, unknown, costs } = outcome;
  const known = costs.filter(({ paid_minor: paid }) => paid !== 0);
  if (known.length > 0)
    return known.map((cost) => `${known.length > 1 ? `${cost.currency} ` : ""}${shareOf(cost)}`).join(", ");
  if (costs.some((cost) => cost.unknown > 0) || (attempts > 0 && attempts === unknown)) return "unknown";
  return "none";
}

function shareOf({ cost_minor: cost, paid_minor: paid }: Outcome["costs"][number]): string {
  return cost === null || paid === null || paid === 0 ? "beyond counting" : percent2(cost / paid);
}

/** The same as amounts. */
function amountsOf({ costs }: Outcome, language: Language): string {
  if (costs.length === 0) return "nothing";
  return costs
    .map(
      ({ currency, exponent, cost_minor: cost }) =>
        `${currency} ${cost === null ? "…" : digitsOf(cost, exponent, language)}`,
    )
    .join(", ");
}

function percent2(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}

function aboutCost({ before, after }: Sides, language: Language): string {
  const unknown = (side: Outcome): number => side.costs.reduce((sum, cost) => sum + cost.unknown, 0);
  const [was, would] = [unknown(before), unknown(after)];
  const without = after.unknown === 0 ? "" : `, without the ${after.unknown.toLocaleString("en")} unknown`;
  const amounts = `${amountsOf(before, language)} → ${amountsOf(after, language)}${without}.`;
  if (was === 0 && would === 0) return amounts;
  return `${amounts} Cost unknown for ${was.toLocaleString("en")} → ${would.toLocaleString("en")}: state it under Acquirers.`;
}
