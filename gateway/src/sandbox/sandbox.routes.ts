// The sandbox: endpoints by which a developer makes things happen. The same headers as the rest of /v1, with sandbox credentials only.
import { bookCommand } from "../commands/command-context.ts";
import { z } from "zod";
import { type Clock, SECOND, wireTime } from "../ground/clock.ts";
import { type Endpoint, answering, ofSandbox, readEndpoint, writeEndpoint } from "../http/endpoint.ts";
import { reply } from "../ground/reply.ts";
import { wholeBetween, wholeFrom } from "../ground/whole.ts";
import { environmentField, timestamp, withExample } from "../http/shapes.ts";
import { selectBookOffset } from "../merchants/books.sql.ts";
import type { Book } from "../merchants/books.ts";
import { accounts } from "../ledger/journal.ts";
import { balanceOf } from "../ledger/ledger.ts";
import { statusView } from "../payments/payment.ts";
import { paymentParams, paymentStatusSchema } from "../payments/payments.schema.ts";
import { type PaymentParts, outcomeNeeds, takeOutcome } from "../payments/payments.ts";
import { payoutDayAlone } from "../settlements/outlook.ts";
import type { Database } from "../store/database.ts";
import { type Clocks, sendClock } from "./clock.ts";

interface SandboxParts extends PaymentParts {
  database: Database;
  clock: Clock;
  clocks: Clocks;
}

const ADVANCE_MAX_SECONDS = 31_622_400;

const simulateSchema = z
  .strictObject({
    outcome: z.enum(["processing", "succeeded", "failed"]).meta({ description: "What the acquirer reports." }),
  })
  .meta({ id: "SimulatePayment", examples: [{ outcome: "succeeded" }] });
const advanceSchema = z
  .strictObject({
    seconds: wholeBetween(1, ADVANCE_MAX_SECONDS).meta({
      description: "How far; at most 366 days.",
      examples: [3_600],
    }),
  })
  .meta({ id: "AdvanceClock", examples: [{ seconds: 3_600 }] });
const clockSchema = withExample(
  z.strictObject({
    environment: environmentField,
    now: timestamp.meta({ description: "The time in your sandbox." }),
    offset_seconds: wholeFrom(0).meta({ description: "How far it is ahead of the real time.", examples: [3_600] }),
  }),
  { id: "SandboxClock" },
);

export function sandboxEndpoints(parts: SandboxParts): Endpoint[] {
  return [
    writeEndpoint<z.infer<typeof simulateSchema>>({
      operationId: "simulatePayment",
      path: "/v1/sandbox/payments/{reference}/simulate",
      params: paymentParams,
      summary: "Let the simulated acquirer report an outcome",
      ...ofSandbox,
      errors: ["PAYMENT_NOT_FOUND", "PAYMENT_EXPIRED", "PAYMENT_NOT_PAYABLE"],
      success: { description: "The payment after it.", schema: paymentStatusSchema },
      links: [
        { operationId: "createRefund", description: "Refund it, by its `reference` as `payment_reference`." },
        { operationId: "openDispute", description: "Let the payer contest it.", path: { reference: "reference" } },
      ],
      body: { schema: simulateSchema, order: ["outcome"] },
      command: (call, { outcome }) => {
        const { reference = "" } = call.params;
        const command = bookCommand(call, {
          name: "simulate outcome",
          needs: outcomeNeeds(call.book, reference),
          execute(context) {
            const payment = takeOutcome(context, reference, outcome);
            const available = -balanceOf(context.set, call.book, accounts.available, payment.currency);
            return statusView(payment, payoutDayAlone(call.merchant, payment, available));
          },
        });
        return answering(command, (view) => reply(200, view));
      },
    }),
    writeEndpoint<z.infer<typeof advanceSchema>>({
      operationId: "advanceSandboxClock",
      path: "/v1/sandbox/clock/advance",
      summary: "Move your sandbox's clock forward; whatever falls due happens",
      ...ofSandbox,
      success: { description: "The clock after it.", schema: clockSchema },
      body: { schema: advanceSchema, order: ["seconds"] },
      command: (call, { seconds }) =>
        answering(sendClock(call.book, seconds), ({ realNow, offsetSeconds }) => ({
          ...reply(200, clockView(call.book, realNow, offsetSeconds)),
          // Or a retry of a move by more than 72 hours would find its own key forgotten, and move the clock again.
          keptFrom: realNow + offsetSeconds * SECOND,
        })),
      after: (call) => parts.clocks.move(call.book),
    }),
    readEndpoint({
      operationId: "getSandboxClock",
      path: "/v1/sandbox/clock",
      summary: "Read your sandbox's clock",
      ...ofSandbox,
      success: { description: "The clock.", schema: clockSchema },
      async handle(call) {
        const [row] = await parts.database.query<{ clock_offset_seconds: bigint }>(selectBookOffset(call.book));
        return reply(200, clockView(call.book, parts.clock.now(), Number(row?.clock_offset_seconds ?? 0n)));
      },
    }),
  ];
}

function clockView(book: Book, realNow: number, offsetSeconds: number): z.infer<typeof clockSchema> {
  return {
    environment: book.environment,
    now: wireTime(realNow + offsetSeconds * SECOND),
    offset_seconds: offsetSeconds,
  };
}
