// The rows of the table of commands about events and webhooks.
import { type Command, defineCommand } from "../../gateway/src/cli/command.ts";
import { asWhom, change, eventTypes, httpAddress, list, ofIdentity as environment, one } from "./common.ts";

const id = { name: "id", required: true } as const;

export const eventCommands: readonly Command[] = [
  defineCommand({
    name: "events list",
    summary: "List events and how their delivery went, newest first",
    options: {
      ...list,
      type: { choices: eventTypes, summary: "only those of this type" },
      delivery: {
        choices: ["pending", "delivered", "undelivered", "none"],
        summary: "only those with this state of delivery",
      },
    },
    examples: [["gerbang events list --delivery undelivered", "what your receiver never accepted"]],
    environment,
    run: async (values) => (await import("./events.ts")).listEvents(values),
  }),
  defineCommand({
    name: "events get",
    summary: "Show an event, with the body that is delivered",
    operand: id,
    options: one,
    examples: [["gerbang events get evt_… --json", "as a receiver gets it"]],
    environment,
    run: async (values, [event = ""]) => (await import("./events.ts")).getEvent(values, event),
  }),
  defineCommand({
    name: "events deliveries",
    summary: "List every attempt to deliver an event, and why it failed",
    operand: id,
    options: list,
    examples: [["gerbang events deliveries evt_…", "what your receiver answered"]],
    environment,
    run: async (values, [event = ""]) => (await import("./events.ts")).listDeliveries(values, event),
  }),
  defineCommand({
    name: "events resend",
    summary: "Deliver an event again",
    operand: id,
    options: change,
    examples: [["gerbang events resend evt_…", "the same body, signed anew"]],
    environment,
    run: async (values, [event = ""]) => (await import("./events.ts")).resendEvent(values, event),
  }),
  defineCommand({
    name: "trigger",
    summary: "Send an event with sample data to the registered address of the sandbox",
    details: [
      "It needs that address even while listen runs, which then forwards the sample too. Without one, let something really happen, as by payments create and payments simulate: listen forwards that.",
    ],
    operand: { name: "type", choices: [...eventTypes, "all"], required: true },
    options: change,
    examples: [
      ["gerbang trigger payment.succeeded", "as if somebody had paid"],
      ["gerbang trigger all", "one of each type"],
    ],
    environment,
    run: async (values, [type = ""]) => (await import("./events.ts")).triggerEvent(values, type),
  }),
  defineCommand({
    name: "listen",
    summary: "Forward each event of a sandbox to this machine",
    details: [
      "It resumes where it stopped and loses no event. It prints a line for each delivery, and your program's answer to one that it refused. Ctrl-C stops it.",
      "It prints the secret that deliveries are signed with: its own, always the same for a key, so you need no registered address.",
    ],
    options: {
      "forward-to": { value: "URL", form: httpAddress, summary: "your program's address; needed to listen" },
      ...asWhom,
      "base-url": { value: "URL", form: httpAddress, summary: "the service's address, for another key" },
      "client-id": { value: "ak_test_…", summary: "another key of the sandbox" },
      secret: { value: "SECRET", summary: "its secret; GERBANG_SECRET keeps it out of the list of processes" },
      "as-sent": { summary: "keep the service's own signatures, made with the secret of the sandbox's webhooks" },
      from: { value: "evt_…", summary: "go back to this event: forward it again, and all that came after it" },
      "print-secret": { summary: "print the secret that deliveries are signed with, and exit" },
    },
    examples: [
      ["gerbang listen --forward-to http://localhost:3000/hook", "events as they come"],
      ["gerbang listen --print-secret", "what your program needs to verify them"],
    ],
    environment: ["BASE_URL", "GERBANG_DATA", ...environment],
    run: async (values) => (await import("./listen.ts")).listenCommand(values),
  }),
];
