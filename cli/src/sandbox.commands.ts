// The rows of the table of commands for development in the sandbox: clock, logs, doctor, exam, samples; and the portal's pages.
import { type Command, type Form, defineCommand } from "../../gateway/src/cli/command.ts";
import { asWhom, change, ofIdentity as environment, one, port } from "./common.ts";

const status: Form = { pattern: /^[1-5]\d\d$/, says: "is an HTTP status, such as 422" };

export const sandboxCommands: readonly Command[] = [
  defineCommand({
    name: "clock show",
    summary: "Show the sandbox's clock",
    options: one,
    examples: [["gerbang clock show", "and how far ahead it is"]],
    environment,
    run: async (values) => (await import("./sandbox.ts")).showClock(values),
  }),
  defineCommand({
    name: "clock advance",
    summary: "Move the sandbox's clock forward; what falls due, happens",
    operand: { name: "time", required: true },
    options: change,
    examples: [
      ["gerbang clock advance 12h", "payments expire, deliveries are tried again"],
      ["gerbang clock advance 90", "in seconds; also 15m, 3d"],
    ],
    environment,
    run: async (values, [time = ""]) => (await import("./sandbox.ts")).advanceClock(values, time),
  }),
  defineCommand({
    name: "logs tail",
    summary: "Follow the requests that your systems send to the sandbox",
    details: [
      "It prints the newest ones, then each new one, with the reason if it was refused. Ctrl-C ends it. The portal has their bodies, and the requests of production.",
    ],
    options: {
      ...asWhom,
      json: { summary: "print one line of JSON for each" },
      refused: { summary: "only those that were refused" },
      path: { value: "PATH", summary: "only those whose path begins with this, such as /v1/refunds" },
      status: { value: "STATUS", form: status, summary: "only those with this answer" },
      "no-follow": { summary: "print the newest ones, and exit" },
    },
    examples: [
      ["gerbang logs tail", "everything"],
      ["gerbang logs tail --refused", "what went wrong, and why"],
    ],
    environment,
    run: async (values) => (await import("./logs.ts")).tailCommand(values),
  }),
  defineCommand({
    name: "doctor",
    summary: "Say why the signature of a request to the sandbox was refused, and what to change",
    operand: { name: "request_id", required: true },
    options: one,
    examples: [["gerbang doctor req_…", "its X-Request-Id"]],
    environment,
    run: async (values, [id = ""]) => (await import("./sandbox.ts")).diagnose(values, id),
  }),
  defineCommand({
    name: "exam",
    summary: "Test the receiver at the registered address of the sandbox",
    details: ["It sends genuine, forged, late and repeated deliveries, and checks the answers."],
    options: change,
    examples: [["gerbang exam", "before you go live"]],
    environment,
    exits: { 0: "every check was passed", 1: "a check failed, or the exam could not run" },
    run: async (values) => (await import("./sandbox.ts")).examine(values),
  }),
  defineCommand({
    name: "samples",
    summary: "List the example shops, or run one in your sandbox",
    details: [
      "A shop is about 60 lines: a page, a payment by QRIS, and the webhook that marks the order as paid. It uses your key, and gets the events of your sandbox as listen forwards them; Ctrl-C ends both.",
    ],
    operand: { name: "sample", choices: ["express", "fastify", "hono", "flask", "php"] },
    options: { ...asWhom, port: { value: "PORT", default: "3000", form: port, summary: "where the shop listens" } },
    examples: [
      ["gerbang samples", "all of them, and what each needs"],
      ["gerbang samples express", "a shop at http://localhost:3000"],
      ["gerbang samples php --port 3001", "when another program uses port 3000"],
    ],
    environment,
    run: async (values, [name]) => (await import("./samples.ts")).samplesCommand(values, name),
  }),
  defineCommand({
    name: "open",
    summary: "Open the portal, at an object where one is named",
    operand: { name: "id" },
    options: { ...asWhom, print: { summary: "print the address, and open nothing" } },
    examples: [
      ["gerbang open", "the home page"],
      ["gerbang open pay_…", "that payment's story"],
    ],
    environment,
    run: async (values, [id]) => (await import("./open.ts")).openCommand(values, id),
  }),
];
