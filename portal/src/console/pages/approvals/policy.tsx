// The policy: which changes need a second operator, above which amount of which currency.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useGo } from "../../../address.ts";
import { useAction } from "../../../api/action.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Button } from "../../../ui/button.tsx";
import { ErrorNote } from "../../../ui/face.tsx";
import { digitsOf, minorOf } from "../../../ui/money.tsx";
import { Page as Frame } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { say } from "../../../ui/toast.tsx";
import { typedMark } from "../../../ui/typed.ts";
import { type Language, useLanguage } from "../../../words.ts";
import { type Schema, read, write } from "../../api/client.ts";
import { useMay } from "../../api/rights.ts";
import { at } from "../../paths.ts";
import { askedIn } from "../decisions/decide.tsx";
import { exponentOf } from "../merchants/exponents.ts";

type Policy = Schema<"ApprovalPolicy">;
type Action = keyof Policy["actions"];

const actions: [Action, label: string, about: string, bounded: boolean][] = [
  ["refund_payment", "Refund a payment", "The limit is on everything refunded of the payment.", true],
  ["approve_review", "Let a payment under review go on", "", true],
  ["resolve_dispute", "Decide a dispute, or record one", "", true],
  ["decide_receipt", "Assign or return late money", "", true],
  ["record_outcome", "Record what became of a refund or payment that its acquirer leaves open", "", true],
  ["record_payout", "Record what the bank did with a payout", "", true],
  ["activate_routing", "Let other routing rules decide", "Rolling back too.", false],
  ["enable_acquirer", "Switch an acquirer on", "Switching one off never waits.", false],
];

/** Bounds are written in rupiah here; those of other currencies are kept as they are. */
const CURRENCY = "IDR";
const EXPONENT = 2;

interface Row {
  isOn: boolean;
  /** As it was typed; empty: always. */
  above: string;
}

const noRow: Row = { isOn: false, above: "" };

export function Page() {
  const policy = useQuery(read("/v1/approvals/policy"));
  const amount = digitsOf(5_000_000, EXPONENT, useLanguage());
  return (
    <Frame
      title="Policy"
      lead={`Which changes need a second operator. An amount in a currency without a limit always does. Type a limit as amounts are shown, such as ${amount}, not in minor units. Making the policy stricter takes effect at once; loosening it needs a second admin.`}
      above={{ to: at.approvals(), label: "Approvals" }}
      curl={{ path: "/v1/approvals/policy" }}
    >
      <Answer of={policy}>{(one) => <Editor of={one} refetch={policy.refetch} />}</Answer>
    </Frame>
  );
}

/** An amount of any currency, as those in rupiah are written. */
function written(currency: string, minor: number, language: Language): string {
  const exponent = exponentOf(currency);
  return exponent === undefined
    ? `${minor} minor units of ${currency}`
    : `${currency} ${digitsOf(minor, exponent, language)}`;
}

function rowOf(rule: Schema<"ApprovalRule"> | undefined, language: Language): Row {
  const bound = rule?.above_minor?.[CURRENCY];
  return { isOn: rule !== undefined, above: bound === undefined ? "" : digitsOf(bound, EXPONENT, language) };
}

function Editor({ of: policy, refetch }: { of: Policy; refetch: () => Promise<unknown> }) {
  const may = useMay();
  const go = useGo();
  const language = useLanguage();
  const first = Object.fromEntries(actions.map(([action]) => [action, rowOf(policy.actions[action], language)]));
  // Only what was typed: the rest follows the policy, which others may change meanwhile.
  const [typed, setTyped] = useState<Record<string, Partial<Row>>>({});
  const [typedAt, setTypedAt] = useState(policy.version);
  const rows = Object.fromEntries(
    actions.map(([name]): [string, Row] => [name, { ...noRow, ...first[name], ...typed[name] }]),
  );
  const action = useAction(
    (wanted: Policy["actions"]) =>
      write("PUT", "/v1/approvals/policy", { body: { version: policy.version, actions: wanted } }),
    {
      done: async (answer) => {
        const asked = askedIn(answer);
        say(asked ? "This policy is looser, so a second admin has to approve it." : "The policy is in force.");
        if (asked) return go(at.approval(asked.uuid));
        // Until the new policy is read, what was typed is what it says.
        setTypedAt(policy.version + 1);
        await refetch();
        setTyped({});
      },
    },
  );
  const isEditable = may("admin");
  const isChanged = JSON.stringify(rows) !== JSON.stringify(first);
  const wrong = actions.filter(([name]) => {
    const { isOn, above } = rows[name] ?? noRow;
    return isOn && above.trim() !== "" && minorOf(above, EXPONENT, language) === undefined;
  });
  const save = async (): Promise<void> => {
    const answer = await action.run(
      Object.fromEntries(
        actions.flatMap(([name]) => {
          const { isOn, above } = rows[name] ?? noRow;
          if (!isOn) return [];
          const { [CURRENCY]: _, ...others } = policy.actions[name]?.above_minor ?? {};
          const bound = minorOf(above, EXPONENT, language);
          const bounds = { ...others, ...(bound === undefined ? {} : { [CURRENCY]: bound }) };
          return [[name, Object.keys(bounds).length === 0 ? {} : { above_minor: bounds }]];
        }),
      ),
    );
    // Another version may be in force: what was typed stays over it.
    if (answer === undefined) await refetch();
  };
  const change = (name: string, to: Partial<Row>): void => {
    if (!isChanged) setTypedAt(policy.version);
    setTyped((before) => ({ ...before, [name]: { ...before[name], ...to } }));
  };
  return (
    <div className="space-y-4" {...typedMark(isChanged)}>
      <ul className="divide-y divide-line rounded-md border border-line bg-panel">
        {actions.map(([name, label, about, isBounded]) => {
          const { isOn, above } = rows[name] ?? noRow;
          const isWrong = wrong.some(([one]) => one === name);
          const others = Object.entries(policy.actions[name]?.above_minor ?? {}).filter(([code]) => code !== CURRENCY);
          return (
            <li key={name} className="flex min-h-14 flex-wrap items-center gap-x-6 gap-y-2 px-4 py-2">
              <label className="flex min-w-0 flex-1 basis-64 items-center gap-3">
                <input
                  type="checkbox"
                  className="size-4 shrink-0 accent-accent"
                  checked={isOn}
                  disabled={!isEditable}
                  onChange={({ target }) => change(name, { isOn: target.checked })}
                />
                <span>
                  <span className="block font-medium">{label}</span>
                  {about !== "" && <span className="text-xs text-muted">{about}</span>}
                </span>
              </label>
              {isOn && isBounded && (
                <label className="flex flex-wrap items-center gap-2">
                  <span className="text-muted">above {CURRENCY}</span>
                  <input
                    className="field w-40 text-right"
                    inputMode="decimal"
                    placeholder="any amount"
                    aria-label={`${label}: above ${CURRENCY}`}
                    aria-invalid={isWrong || undefined}
                    value={above}
                    disabled={!isEditable}
                    onChange={({ target }) => change(name, { above: target.value })}
                  />
                </label>
              )}
              {isWrong && (
                <span className="basis-full text-bad">
                  Enter an amount such as {digitsOf(1_000_000, EXPONENT, language)}, or leave it empty for any amount.
                </span>
              )}
              {isOn && others.length > 0 && (
                <span className="basis-full text-xs text-muted">
                  Also above {others.map(([code, minor]) => written(code, minor, language)).join(", ")}.
                </span>
              )}
            </li>
          );
        })}
      </ul>
      {isChanged && policy.version !== typedAt && (
        <p role="alert" className="text-warn">
          The policy has changed since you began. What you typed is still here, over the new one: look at it again.
        </p>
      )}
      {action.error && <ErrorNote error={action.error} />}
      <div className="flex flex-wrap items-center gap-4">
        {isEditable ? (
          <Button look="primary" disabled={!isChanged || wrong.length > 0} pending={action.pending} onClick={save}>
            Put it in force
          </Button>
        ) : (
          <span className="text-muted">Only admins can change it.</span>
        )}
        {policy.changed_at !== null && (
          <span className="text-muted">
            Version {policy.version}, by {policy.changed_by}, <Time at={policy.changed_at} shape="minute" />
          </span>
        )}
      </div>
    </div>
  );
}
