// The acquirers that could have taken a payment, and why each one did or did not.
import type { Schema } from "../../../api/types.ts";

const why: Record<string, string> = {
  chosen: "chosen",
  split: "a split test gave the payment to another",
  not_drawn: "eligible; the weighted draw chose another",
  lower_priority: "another one has a better priority",
  degraded: "degraded: passes most of its share on",
  no_rule: "no rule gives it such payments",
  method_not_supported: "does not take this method",
  currency_not_supported: "does not take this currency",
  amount_out_of_range: "does not take this amount",
  amount_too_fine: "does not take so many decimals",
  disabled: "switched off",
  down: "down",
  circuit_open: "its latest calls failed",
  refused: "refused this payment",
};

export function Candidates({ of: { candidates, rules_version: version } }: { of: Schema<"StoryRouted"> }) {
  return (
    <details>
      <summary className="inline-flex min-h-6 items-center text-muted hover:text-ink">
        {candidates.length === 1 ? "1 acquirer was" : `${candidates.length} acquirers were`} looked at, by version{" "}
        {version} of the rules
      </summary>
      <ul aria-label="Acquirers" className="mt-1 space-y-0.5">
        {candidates.map(({ gateway_code: code, verdict, priority, weight }) => (
          <li key={code} className={verdict === "chosen" ? "font-medium" : "text-muted"}>
            {code}: {why[verdict] ?? verdict}
            {priority !== undefined && (
              <span className="text-xs">
                {" "}
                (priority {priority}, weight {weight})
              </span>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}
