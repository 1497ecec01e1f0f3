// A book's registered webhook address: moves pending deliveries to a new one, and shows how far a rotation of its secret has come.
import { z } from "zod";
import { READDRESS_MAX, readdressPending } from "../events/outbox.sql.ts";
import { type Micros, wireTime, wireTimeOrNull } from "../ground/clock.ts";
import { exampleAddress } from "../http/examples.ts";
import { textOrNull, timestamp } from "../http/shapes.ts";
import type { Book } from "../merchants/books.ts";
import type { WebhookRegistration } from "../merchants/webhook-endpoints.sql.ts";
import type { Database } from "../store/database.ts";

/** Number of statements that move a backlog. The remaining deliveries move when they are due. */
const MOVES_MAX = 40;

/** Moves a book's pending deliveries to a newly registered address, so that a backlog does not wait for the old host. */
export async function followAddress(database: Database, book: Book): Promise<void> {
  for (let moves = 0; moves < MOVES_MAX; moves++) {
    if ((await database.query(readdressPending(book))).length < READDRESS_MAX) return;
  }
}

const previousSchema = z
  .strictObject({
    until: timestamp.meta({ description: "Until when it signs as well." }),
    last_accepted_at: timestamp.nullable().meta({
      description:
        "When a delivery that carried both signatures was last accepted; which one was verified, that does not tell.",
    }),
    last_needed_at: timestamp.nullable().meta({
      description: "When a delivery was last refused with the new signature alone, and accepted with both.",
    }),
    last_not_needed_at: timestamp.nullable().meta({
      description: "When a delivery was last accepted with the new signature alone: now and then one is sent so.",
    }),
  })
  .meta({ id: "PreviousWebhookSecret", description: "How far a rotation is." });

export const registrationFields = {
  url: textOrNull(exampleAddress, "Where events go; null while they go nowhere."),
  rotated_at: timestamp.nullable().meta({ description: "Null before the first rotation." }),
  previous: previousSchema
    .nullable()
    .meta({ description: "The secret before the last rotation, while it signs as well." }),
};

export function registrationView(registration: WebhookRegistration, now: Micros) {
  return {
    url: registration.url ?? null,
    rotated_at: wireTimeOrNull(registration.rotatedAt),
    previous: previousView(registration, now),
  };
}

/** Gives null when the previous secret does not sign any more. */
function previousView(registration: WebhookRegistration, now: Micros): z.infer<typeof previousSchema> | null {
  const { previousUntil: until } = registration;
  if (until === undefined || until <= now) return null;
  return {
    until: wireTime(until),
    last_accepted_at: wireTimeOrNull(registration.previousCarriedAt),
    last_needed_at: wireTimeOrNull(registration.previousNeededAt),
    last_not_needed_at: wireTimeOrNull(registration.previousNotNeededAt),
  };
}
