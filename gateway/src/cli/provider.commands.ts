// The rows of the table of commands about the providers of acquirers.json.
import { type Command, type Form, defineCommand } from "./command.ts";

const codeForm: Form = { pattern: /^[a-z_]{1,30}$/, says: "is not 1 to 30 of a-z and _" };
const code = {
  value: "CODE",
  required: true,
  form: codeForm,
  summary: "the acquirer's code in acquirers.json",
} as const;
const environment = ["ACQUIRERS_FILE", "GERBANG_DATA", "NODE_ENV"] as const;

export const providerCommands: readonly Command[] = [
  defineCommand({
    name: "provider check",
    summary: "Try a provider's keys by its cheapest harmless call",
    details: [
      "It says what works, and how far the provider's clock is from this machine's. It orders nothing and shows no key.",
    ],
    options: { code },
    examples: [["gerbang provider check --code midtrans", "before the first payment, and after a key has changed"]],
    environment,
    exits: { 1: "something does not work, and the lines say what" },
    run: async (values) => (await import("./provider-command.ts")).checkCommand(values),
  }),
  defineCommand({
    name: "provider exam",
    summary: "Let a provider sit the exam, at its own sandbox and with your keys",
    details: [
      "It asks only what does no harm there, about ten requests, one case a second: every method once, one key twice, a key that was never used. What only a fake can be made to do (lost answers, wrong amounts, late money) the tests of the connector ask.",
      "It is for entries of the environment sandbox alone. The payments that it opens run out by themselves.",
    ],
    options: { code, sandbox: { summary: "yes, order payments at the provider's own sandbox" } },
    examples: [
      ["gerbang provider exam --sandbox --code xendit", "a line for each case, and a last one that counts them"],
    ],
    environment,
    exits: { 1: "a case failed" },
    run: async (values) => (await import("./provider-command.ts")).examCommand(values),
  }),
];
