// How a sandbox's webhooks misbehave on purpose, so that a merchant's receiver meets every hardship before production.
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { type Endpoint, readEndpoint, writeEndpoint } from "../http/endpoint.ts";
import { reply } from "../http/envelope.ts";
import type { Database } from "../store/database.ts";
import { HEARD_MS } from "../webhooks/fault-injection.ts";
import {
  type Mode,
  type SwitchRow,
  misbehaviourSwitches,
  modes,
  selectMisbehaviour,
} from "../webhooks/fault-injection.sql.ts";

const path = "/v1/sandbox/webhook/misbehave";
const FOR_NEXT_MAX = 1_000;

/** What each mode does, for the contract. */
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
const description = modes.map((mode) => `\`${mode}\`: ${meanings[mode]}`).join("; ");

const switchSchema = z
  .strictObject({
    mode: z.enum(modes).meta({ description: `${description}.` }),
    for_next: z
      .int()
      .min(1)
      .max(FOR_NEXT_MAX)
      .optional()
      .meta({ description: "For so many attempts of delivery; until it is switched off when absent." }),
  })
  .refine(({ mode, for_next }) => mode !== "none" || for_next === undefined, {
    path: ["for_next"],
    message: "means nothing with mode none; leave it out",
  });
const shownSchema = z.strictObject({
  mode: z.enum(modes),
  for_next: z.int().min(1).max(FOR_NEXT_MAX).nullable().meta({ description: "Attempts left; null when unlimited." }),
});

export function misbehaveEndpoints({ database }: { database: Database }): Endpoint[] {
  return [
    writeEndpoint<z.infer<typeof switchSchema>>({
      method: "PUT",
      path,
      summary: "Let the webhooks of your sandbox misbehave; it holds from the answer on",
      tag: "Sandbox",
      scope: "sandbox:write",
      sandboxOnly: true,
      errors: [],
      success: { status: 200, description: "What holds now.", schema: shownSchema },
      body: { schema: switchSchema, order: ["mode", "for_next"] },
      lane: "move",
      command: ({ book }, { mode, for_next: remaining }) => ({
        name: "switch misbehaviour",
        needs: [],
        execute(set) {
          const wanted = { book, mode, remaining };
          if (set.get(misbehaviourSwitches, book)) set.update(misbehaviourSwitches, wanted);
          else set.insert(misbehaviourSwitches, wanted);
          return reply(200, { mode, for_next: remaining ?? null });
        },
      }),
      // By then every process has heard of it, so the next event already finds what was asked for.
      after: () => pause(HEARD_MS),
    }),
    readEndpoint({
      path,
      summary: "How the webhooks of your sandbox misbehave, and for how many attempts more",
      tag: "Sandbox",
      scope: "sandbox:write",
      sandboxOnly: true,
      errors: [],
      success: { status: 200, description: "What holds now.", schema: shownSchema },
      query: z.strictObject({}),
      async handle({ book }) {
        const [row] = await database.query<SwitchRow>(selectMisbehaviour(book));
        return reply(200, { mode: row?.mode ?? "none", for_next: row?.remaining ?? null });
      },
    }),
  ];
}
