// The rows of the table of commands about payments and payment links.
import { type Command, defineCommand } from "../../gateway/src/cli/command.ts";
import { rules } from "../../sdk/src/rules.ts";
import { change, list, minor, ofIdentity, one, seconds } from "./common.ts";

const statuses = [
  "pending",
  "processing",
  "succeeded",
  "failed",
  "expired",
  "canceled",
  "partially_refunded",
  "refunded",
] as const;
const methods = rules.CreatePayment.fields.payment_method.options;
const reference = { name: "reference", required: true } as const;
const environment = ofIdentity;

export const paymentCommands: readonly Command[] = [
  defineCommand({
    name: "payments list",
    summary: "List payments, newest first",
    options: {
      ...list,
      status: { choices: statuses, summary: "only those in this state" },
      method: { choices: methods, summary: "only those by this method" },
      "reference-id": { value: "ID", summary: "the one that has this id of yours" },
      from: { value: "TIME", summary: "created on this day (YYYY-MM-DD, in UTC) or at this time, or later" },
      to: { value: "TIME", summary: "created on this day or at this time, or earlier" },
    },
    examples: [
      ["gerbang payments list --status succeeded --limit 100", "what was paid"],
      ["gerbang payments list --watch", "what comes in now"],
    ],
    environment,
    run: async (values) => (await import("./payments.ts")).listPayments(values),
  }),
  defineCommand({
    name: "payments get",
    summary: "Show a payment",
    operand: reference,
    options: one,
    examples: [["gerbang payments get pay_…", "with its fee, its instructions and its payout"]],
    environment,
    run: async (values, [id = ""]) => (await import("./payments.ts")).getPayment(values, id),
  }),
  defineCommand({
    name: "payments create",
    summary: "Create a payment",
    details: ["If a payment already has your reference id, that payment is shown and none is created."],
    options: {
      ...change,
      "amount-minor": { value: "N", required: true, form: minor, summary: "in minor units: 150000 is 1,500.00 of IDR" },
      currency: { value: "CODE", default: "IDR", summary: "ISO 4217" },
      method: { choices: methods, default: "qris", summary: "how it is paid" },
      "reference-id": { value: "ID", summary: "your own (default: a new one)" },
      description: { value: "TEXT", summary: "what it is for" },
      "expires-in": { value: "SECONDS", form: seconds, summary: "how long it can be paid" },
      "return-url": { value: "URL", summary: "where the payer goes back to" },
      scenario: { value: "NAME", summary: "what the sandbox does with it, such as auto_success or decline" },
    },
    examples: [["gerbang payments create --amount-minor 150000 --method qris", "and its QR code as text"]],
    environment,
    run: async (values) => (await import("./payments.ts")).createPayment(values),
  }),
  defineCommand({
    name: "payments cancel",
    summary: "Cancel a payment that nobody has paid",
    operand: reference,
    options: { ...change, reason: { value: "TEXT", summary: "why, at most 255 characters" } },
    examples: [["gerbang payments cancel pay_… --reason 'out of stock'", "it can no longer be paid"]],
    environment,
    run: async (values, [id = ""]) => (await import("./payments.ts")).cancelPayment(values, id),
  }),
  defineCommand({
    name: "payments wait",
    summary: "Wait until a payment reaches a state",
    operand: reference,
    options: {
      ...one,
      for: { choices: statuses, default: "succeeded", summary: "which state" },
      timeout: { value: "SECONDS", default: "300", form: seconds, summary: "for how long at most" },
    },
    examples: [["gerbang payments wait pay_… && echo paid", "in a script"]],
    environment,
    exits: { 1: "it ended in another state, or the time ran out" },
    run: async (values, [id = ""]) => (await import("./payments.ts")).waitForPayment(values, id),
  }),
  defineCommand({
    name: "payments simulate",
    summary: "Let the sandbox's acquirer report the outcome of a payment",
    operand: reference,
    options: {
      ...change,
      outcome: { choices: ["processing", "succeeded", "failed"], default: "succeeded", summary: "what it says" },
    },
    examples: [["gerbang payments simulate pay_…", "somebody paid it"]],
    environment,
    run: async (values, [id = ""]) => (await import("./payments.ts")).simulatePayment(values, id),
  }),
  defineCommand({
    name: "links list",
    summary: "List payment links, newest first",
    options: {
      ...list,
      status: { choices: ["active", "paid", "expired", "deactivated"], summary: "only those in this state" },
    },
    examples: [["gerbang links list --status active", "those that can be paid"]],
    environment,
    run: async (values) => (await import("./links.ts")).listLinks(values),
  }),
  defineCommand({
    name: "links get",
    summary: "Show a payment link",
    operand: { name: "uuid", required: true },
    options: one,
    examples: [["gerbang links get lnk_…", "with its address"]],
    environment,
    run: async (values, [id = ""]) => (await import("./links.ts")).getLink(values, id),
  }),
  defineCommand({
    name: "links create",
    summary: "Create an address where anyone who has it can pay",
    options: {
      ...change,
      "amount-minor": { value: "N", form: minor, summary: "in minor units (default: the payer says how much)" },
      currency: { value: "CODE", default: "IDR", summary: "ISO 4217" },
      reusable: { summary: "it can be paid again and again" },
      description: { value: "TEXT", summary: "what it is for" },
      "expires-in": { value: "SECONDS", form: seconds, summary: "until it expires" },
    },
    examples: [["gerbang links create --amount-minor 2500000 --description 'Order 1042'", "to be paid once"]],
    environment,
    run: async (values) => (await import("./links.ts")).createLink(values),
  }),
  defineCommand({
    name: "links deactivate",
    summary: "Close a payment link for good",
    operand: { name: "uuid", required: true },
    options: change,
    examples: [["gerbang links deactivate lnk_…", "nobody can pay with it any more"]],
    environment,
    run: async (values, [id = ""]) => (await import("./links.ts")).deactivateLink(values, id),
  }),
];
