// Split tests and their result so far: each arm's share with its interval, and the difference drawn beside zero.
import { useQuery } from "@tanstack/react-query";
import { Answer } from "../../../ui/answer.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { digitsOf } from "../../../ui/money.tsx";
import { Status } from "../../../ui/status.tsx";
import { Time } from "../../../ui/time.tsx";
import { type Language, useLanguage } from "../../../words.ts";
import { type Schema, read } from "../../api/client.ts";
import { percent } from "./what-if.tsx";

type Result = Schema<"SplitTestResult">;
type Arm = Schema<"SplitArm">;

export function SplitTests() {
  const tests = useQuery({ ...read("/v1/routing/splits"), refetchInterval: 15_000 });
  return (
    <Answer of={tests}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title="No test runs">
            A rule can give a share of its payments to another acquirer: fill in “Test” in its row. Their results then
            appear here, with how certain they are.
          </Empty>
        ) : (
          data.map((one) => <Test key={one.split.id} of={one} />)
        )
      }
    </Answer>
  );
}

const tones = { no_data: "calm", undecided: "warn", test_better: "good", control_better: "good" } as const;
const verdicts = {
  no_data: "too early",
  undecided: "not yet distinguishable",
  test_better: "the test is better",
  control_better: "the rule's own is better",
};

function Test({ of: test }: { of: Result }) {
  const { split, control, verdict, since, words, difference } = test;
  return (
    <section aria-label={`Test ${split.id}`} className="rounded-md border border-line bg-panel p-4">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <h2 className="text-base font-semibold">{split.id}</h2>
        <Status status={verdicts[verdict]} tone={tones[verdict]} />
        <span className="text-muted sm:ml-auto">
          rule {test.rule + 1}: {split.percent} % to {split.gateway_code} instead of {control.gateway_code}
        </span>
      </div>
      <p className="mt-2 text-lg">{words}</p>
      {difference && <Interval of={difference} />}
      <div className="mt-3 overflow-x-auto" role="group" aria-label={`Arms of ${split.id}`} tabIndex={-1}>
        <table className="w-full border-collapse text-left">
          <thead className="border-b border-line text-xs text-muted">
            <tr>
              {["Arm", "Ended", "Succeeded", "Success", "95 % interval", "Open", "Mean cost"].map((head, at) => (
                <th
                  key={head}
                  scope="col"
                  className={at === 0 ? "py-1.5 font-medium" : "py-1.5 pl-4 text-right font-medium"}
                >
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <ArmRow arm={control} role="its own" />
            <ArmRow arm={test.test} role="the test" />
          </tbody>
        </table>
      </div>
      <p className="mt-2 text-xs text-muted">
        {since !== null && (
          <>
            Payments since <Time at={since} shape="minute" />.{" "}
          </>
        )}
        Decide beforehand how many payments to wait for: if you check daily and stop at the first difference, you will
        find differences that are not real.
      </p>
    </section>
  );
}

function ArmRow({ arm, role }: { arm: Arm; role: string }) {
  const language = useLanguage();
  const cells = [
    arm.attempts.toLocaleString("en"),
    arm.succeeded.toLocaleString("en"),
    arm.success_rate === null ? "" : percent(arm.success_rate),
    arm.low === null || arm.high === null ? "" : `${percent(arm.low)} to ${percent(arm.high)}`,
    arm.open.toLocaleString("en"),
    meanOf(arm, language),
  ];
  return (
    <tr className="border-b border-line last:border-b-0">
      <th scope="row" className="h-9 pr-4 font-normal whitespace-nowrap">
        <span className="font-medium">{arm.gateway_code}</span> <span className="text-muted">{role}</span>
      </th>
      {cells.map((cell, at) => (
        <td key={at} className="pl-4 text-right whitespace-nowrap">
          {cell}
        </td>
      ))}
    </tr>
  );
}

function meanOf({ costs }: Arm, language: Language): string {
  return costs
    .map(({ currency, exponent, mean_cost_minor: mean }) =>
      mean === null ? `${currency} unknown` : `${currency} ${digitsOf(mean, exponent, language)}`,
    )
    .join(", ");
}

/** The difference and its interval, with zero in the middle: what leaves zero out is a difference. */
function Interval({ of: { estimate, low, high } }: { of: NonNullable<Result["difference"]> }) {
  const reach = Math.max(0.01, Math.abs(low), Math.abs(high)) * 1.15;
  const x = (share: number): number => 300 + (share / reach) * 290;
  const points = (share: number): string => `${share > 0 ? "+" : ""}${(share * 100).toFixed(1)}`;
  return (
    <figure className="mt-2">
      <svg
        viewBox="0 0 600 46"
        role="img"
        aria-label={`Difference ${points(estimate)} percentage points, between ${points(low)} and ${points(high)}`}
        className="h-12 w-full max-w-2xl"
      >
        <line x1="6" x2="594" y1="16" y2="16" className="stroke-line" strokeWidth="1" />
        <line x1="300" x2="300" y1="4" y2="28" className="stroke-muted" strokeWidth="1.5" />
        <line
          x1={x(low)}
          x2={x(high)}
          y1="16"
          y2="16"
          className="stroke-accent"
          strokeWidth="5"
          strokeLinecap="round"
        />
        <circle cx={x(estimate)} cy="16" r="6" className="fill-ink stroke-panel" strokeWidth="2" />
        <text x="300" y="42" textAnchor="middle" className="fill-muted text-xs">
          0
        </text>
        <text x={Math.max(20, Math.min(285, x(low)))} y="42" textAnchor="middle" className="fill-ink text-xs">
          {points(low)}
        </text>
        <text x={Math.min(580, Math.max(315, x(high)))} y="42" textAnchor="middle" className="fill-ink text-xs">
          {points(high)}
        </text>
      </svg>
      <figcaption className="text-xs text-muted">
        Difference in success in percentage points, {points(estimate)}: to the right, the test is better.
      </figcaption>
    </figure>
  );
}
