// The rows of the table of commands about refunds, balances, settlements and disputes.
import { type Command, defineCommand } from "../../gateway/src/cli/command.ts";
import { rules } from "../../sdk/src/rules.ts";
import { change, list, minor, ofIdentity as environment, one } from "./common.ts";

const uuid = { name: "uuid", required: true } as const;
const reasons = rules.OpenDispute.fields.reason.options;
/** The limits of a list in time. */
const within = (what: string) =>
  ({
    from: { value: "TIME", summary: `${what} on this day (YYYY-MM-DD, in UTC) or at this time, or later` },
    to: { value: "TIME", summary: `${what} on this day or at this time, or earlier` },
  }) as const;

export const moneyCommands: readonly Command[] = [
  defineCommand({
    name: "refunds list",
    summary: "List refunds, newest first",
    options: {
      ...list,
      status: { choices: ["pending", "succeeded", "failed"], summary: "only those in this state" },
      payment: { value: "pay_…", summary: "only those of this payment" },
      ...within("created"),
    },
    examples: [["gerbang refunds list --payment pay_…", "what was refunded of it"]],
    environment,
    run: async (values) => (await import("./money.ts")).listRefunds(values),
  }),
  defineCommand({
    name: "refunds get",
    summary: "Show a refund",
    operand: uuid,
    options: one,
    examples: [["gerbang refunds get rfd_…", "and where it stands"]],
    environment,
    run: async (values, [id = ""]) => (await import("./money.ts")).getRefund(values, id),
  }),
  defineCommand({
    name: "refunds create",
    summary: "Refund a payment, in part or all that is left of it",
    details: ["In production money leaves the account. Name an idempotency key where a script may run twice."],
    operand: { name: "reference", required: true },
    options: {
      ...change,
      "amount-minor": { value: "N", form: minor, summary: "a part, in minor units (default: all that is left)" },
      reason: { value: "TEXT", summary: "why, at most 255 characters" },
    },
    examples: [["gerbang refunds create pay_… --amount-minor 50000", "500.00 of it"]],
    environment,
    run: async (values, [reference = ""]) => (await import("./money.ts")).createRefund(values, reference),
  }),
  defineCommand({
    name: "balances list",
    summary: "Show what can be spent, what is held, and what is on its way to the bank, by currency",
    alone: true,
    options: one,
    examples: [
      ["gerbang balances list", "of the key's environment"],
      ["gerbang balances", "the same"],
    ],
    environment,
    run: async (values) => (await import("./money.ts")).listBalances(values),
  }),
  defineCommand({
    name: "balances entries",
    summary: "List the movements behind a figure, newest first",
    operand: { name: "currency", required: true },
    options: {
      ...list,
      figure: { choices: ["available", "held", "pending_settlement"], summary: "which figure (default: available)" },
      from: { value: "TIME", summary: "those of this day (YYYY-MM-DD, in UTC) or of this time, or later" },
      to: { value: "TIME", summary: "those of this day or of this time, or earlier" },
    },
    examples: [
      ["gerbang balances entries IDR --limit 50", "why it is this number"],
      [
        "gerbang balances entries IDR --from 2026-11-01T00:00:00+07:00 --to 2026-11-30T23:59:59+07:00",
        "what moved it in a month of Jakarta",
      ],
    ],
    environment,
    run: async (values, [currency = ""]) => (await import("./money.ts")).listEntries(values, currency),
  }),
  defineCommand({
    name: "settlements list",
    summary: "List payouts, newest first",
    options: {
      ...list,
      status: { choices: ["processing", "paid", "failed"], summary: "only those in this state" },
      currency: { value: "CODE", summary: "only those in this currency" },
      ...within("those whose period ended"),
    },
    examples: [["gerbang settlements list --status paid", "what has reached the bank"]],
    environment,
    run: async (values) => (await import("./money.ts")).listSettlements(values),
  }),
  defineCommand({
    name: "settlements get",
    summary: "Show a payout",
    operand: uuid,
    options: one,
    examples: [["gerbang settlements get set_…", "as an equation that adds up"]],
    environment,
    run: async (values, [id = ""]) => (await import("./money.ts")).getSettlement(values, id),
  }),
  defineCommand({
    name: "settlements statement",
    summary: "Print a payout down to each payment, as CSV",
    details: [
      "A control character that a terminal would obey is printed as \ufffd. The CSV of the API and of the portal keeps it.",
    ],
    operand: uuid,
    options: { profile: one.profile },
    examples: [["gerbang settlements statement set_… > statement.csv", "for the books"]],
    environment,
    run: async (values, [id = ""]) => (await import("./money.ts")).printStatement(values, id),
  }),
  defineCommand({
    name: "settlements run",
    summary: "Let the sandbox form payouts now, of all that can be settled",
    options: change,
    examples: [["gerbang settlements run", "without waiting for the night"]],
    environment,
    run: async (values) => (await import("./money.ts")).runSettlements(values),
  }),
  defineCommand({
    name: "settlements pay",
    summary: "Let the sandbox's bank pay a payout",
    operand: uuid,
    options: change,
    examples: [["gerbang settlements pay set_…", "it is paid"]],
    environment,
    run: async (values, [id = ""]) => (await import("./money.ts")).paySettlement(values, id),
  }),
  defineCommand({
    name: "disputes list",
    summary: "List disputes, newest first",
    options: {
      ...list,
      status: {
        choices: ["needs_response", "under_review", "won", "lost", "withdrawn"],
        summary: "only those in this state",
      },
      payment: { value: "pay_…", summary: "only those of this payment" },
      ...within("opened"),
    },
    examples: [["gerbang disputes list --status needs_response", "those that wait for you"]],
    environment,
    run: async (values) => (await import("./money.ts")).listDisputes(values),
  }),
  defineCommand({
    name: "disputes get",
    summary: "Show a dispute",
    operand: uuid,
    options: one,
    examples: [["gerbang disputes get dsp_…", "and until when evidence is taken"]],
    environment,
    run: async (values, [id = ""]) => (await import("./money.ts")).getDispute(values, id),
  }),
  defineCommand({
    name: "disputes open",
    summary: "Let the sandbox's payer contest a payment",
    operand: { name: "reference", required: true },
    options: {
      ...change,
      reason: { choices: reasons, default: "general", summary: "what the payer says" },
      "amount-minor": { value: "N", form: minor, summary: "a part, in minor units (default: all of it)" },
    },
    examples: [["gerbang disputes open pay_… --reason fraudulent", "its money is held"]],
    environment,
    run: async (values, [reference = ""]) => (await import("./money.ts")).openDispute(values, reference),
  }),
  defineCommand({
    name: "disputes resolve",
    summary: "Let the sandbox decide a dispute",
    operand: uuid,
    options: { ...change, outcome: { choices: ["won", "lost", "withdrawn"], required: true, summary: "how it ends" } },
    examples: [["gerbang disputes resolve dsp_… --outcome won", "the money is yours again"]],
    environment,
    run: async (values, [id = ""]) => (await import("./money.ts")).resolveDispute(values, id),
  }),
];
