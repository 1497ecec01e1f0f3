// Fault injection, switched by the merchant: the sandbox's webhooks misbehave on purpose, so that a receiver is tested before production.
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { type Endpoint, ofSandbox, readEndpoint, writeEndpoint } from "../http/endpoint.ts";
import { reply } from "../ground/reply.ts";
import type { Database } from "../store/database.ts";
import { type Mode, type SwitchRow, faultSwitches, modes, selectFault } from "../webhooks/fault-injection.sql.ts";
import { deliveryTiming } from "../webhooks/timing.ts";

const path = "/v1/sandbox/webhook/misbehave";
const FOR_NEXT_MAX = 1_000;

/** The effect of each mode, for the API contract. */
const meanings: Record<Mode, string> = {
  none: "deliveries are made as usual",
  duplicate: "the delivery is sent twice at the same time, with the same headers; a failure of either copy counts",
  reorder: "the delivery is held back for 3 seconds, and those that follow overtake it without being counted",
  delay: "the delivery is held back for 5 seconds",
  drop: "the delivery is not sent, counts as a failed attempt and is tried again by the schedule",
  stale_timestamp: "the timestamp is 600 seconds old, and validly signed",
  wrong_signature: "the signature is made with another secret",
  unknown_type: "another event of type `sandbox.unheard_of` is sent before the delivery, validly signed",
  byte_order: "the fields of the JSON come in another order, and that is what is signed",
  slow_body: "the body arrives in pieces within 3 seconds",
};
const description = `${modes.map((mode) => `\`${mode}\`: ${meanings[mode]}`).join("; ")}.`;
const faultMode = z.enum(modes).meta({ id: "FaultMode", description });

const forNext = z.int().min(1).max(FOR_NEXT_MAX);

const switchSchema = z
  .strictObject({
    mode: faultMode,
    for_next: forNext
      .optional()
      .meta({ description: "For so many attempts of delivery; until it is switched off when absent." }),
  })
  .refine(({ mode, for_next }) => mode !== "none" || for_next === undefined, {
    path: ["for_next"],
    message: "means nothing with mode none; leave it out",
  })
  .meta({
    id: "SwitchFaultInjection",
    if: { properties: { mode: { const: "none" } }, additionalProperties: true },
    // oxlint-disable-next-line unicorn/no-thenable -- a word of JSON Schema, and nobody awaits it
    then: { properties: { for_next: { type: "null" } }, additionalProperties: true },
    examples: [{ mode: "duplicate", for_next: 3 }],
  });
const shownSchema = z
  .strictObject({
    mode: faultMode,
    for_next: forNext.nullable().meta({ description: "Attempts left; null when unlimited.", examples: [3] }),
  })
  .meta({ id: "FaultInjection", examples: [{ mode: "duplicate", for_next: 3 }] });

/** `refreshMs`: the time after which every process knows a new setting. */
export function faultInjectionEndpoints(database: Database, refreshMs = deliveryTiming.faultRefreshMs): Endpoint[] {
  return [
    writeEndpoint<z.infer<typeof switchSchema>>({
      method: "PUT",
      operationId: "switchFaultInjection",
      path,
      summary: "Let the webhooks of your sandbox misbehave",
      description:
        "It holds from the answer on, for so many attempts at an address of yours or until it is switched off, and not for `gerbang listen`.",
      ...ofSandbox,
      success: { description: "What holds now.", schema: shownSchema },
      body: { schema: switchSchema, order: ["mode", "for_next"] },
      command: ({ book }, { mode, for_next: remaining }) => ({
        name: "switch fault injection",
        book,
        needs: [],
        execute(set) {
          set.upsert(faultSwitches, { book, mode, remaining });
          return reply(200, { mode, for_next: remaining ?? null });
        },
      }),
      // The answer waits until every process knows the setting, so that the next event already finds it.
      after: () => pause(refreshMs),
    }),
    readEndpoint({
      operationId: "getFaultInjection",
      path,
      summary: "Read how the webhooks of your sandbox misbehave",
      ...ofSandbox,
      success: { description: "What holds now.", schema: shownSchema },
      async handle({ book }) {
        const [row] = await database.query<SwitchRow>(selectFault(book));
        return reply(200, { mode: row?.mode ?? "none", for_next: row?.remaining ?? null });
      },
    }),
  ];
}
