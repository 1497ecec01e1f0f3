// Runs the commands `events list`, `get`, `deliveries` and `resend`, and the command `trigger`.
import { randomUUID } from "node:crypto";
import type { ReadOptions } from "../../sdk/src/calls.ts";
import { GerbangError } from "../../sdk/src/errors.ts";
import type { DeliveryAttempt, Event, EventFilters, EventType } from "../../sdk/src/types.ts";
import { type Change, type Common, type ListOptions, eventTypes } from "./common.ts";
import { clientOf } from "./identity.ts";
import { intent } from "./intent.ts";
import { toneOf } from "./output/color.ts";
import { printList } from "./output/list.ts";
import { printObject, say } from "./output/print.ts";
import type { Column } from "./output/table.ts";
import { gistOf, words } from "./output/text.ts";

const columns: readonly Column<Event>[] = [
  { head: "CREATED", cell: ({ created_at: at }) => at },
  { head: "TYPE", cell: ({ type }) => type },
  {
    head: "DELIVERY",
    cell: ({ delivery }) => delivery?.state ?? "none",
    tone: ({ delivery }) => toneOfDelivery(delivery?.state),
  },
  { head: "ATTEMPTS", align: "right", cell: ({ delivery }) => String(delivery?.attempts ?? 0) },
  { head: "EVENT", cell: ({ id }) => id },
  { head: "ABOUT", cell: aboutOf },
];

const toneOfDelivery = (state: string | undefined) =>
  state === "undelivered" ? ("bad" as const) : state === undefined ? ("dim" as const) : toneOf(state);

/** The id of the object that an event is about. */
function aboutOf({ data }: Event): string {
  const { reference, uuid } = data as { reference?: unknown; uuid?: unknown };
  const named = uuid ?? reference;
  return typeof named === "string" ? named : "";
}

export function listEvents(
  values: ListOptions & { type: EventType | undefined; delivery: EventFilters["delivery"] },
): Promise<number> {
  const { type, delivery } = values;
  const { events } = clientOf(values);
  const filters: EventFilters = {
    ...(type === undefined ? {} : { type }),
    ...(delivery === undefined ? {} : { delivery }),
  };
  const listing = {
    ask: (limit: number, options: ReadOptions) => events.list({ ...filters, limit }, options),
    columns,
    id: ({ id }: Event) => id,
    empty:
      Object.keys(filters).length === 0
        ? "No events. gerbang trigger payment.succeeded sends a sample."
        : "No events match.",
  };
  return printList(listing, values);
}

export async function getEvent(values: Common, id: string): Promise<number> {
  return printObject(await clientOf(values).events.get(id), values);
}

const attemptColumns: readonly Column<DeliveryAttempt>[] = [
  { head: "ATTEMPT", align: "right", cell: ({ attempt }) => String(attempt) },
  { head: "STARTED", cell: ({ started_at: at }) => at },
  { head: "TOOK", align: "right", cell: ({ duration_ms: ms }) => `${ms} ms` },
  {
    head: "ANSWER",
    cell: ({ status }) => (status === null ? "none" : String(status)),
    tone: ({ succeeded }) => (succeeded ? "good" : "bad"),
  },
  { head: "WHY", cell: whyOf },
];

/** Why an attempt failed, and what helps to find the cause: where a redirect leads, or what the receiver said. */
function whyOf({ succeeded, reason, note, response }: DeliveryAttempt): string {
  const why = note ?? reason ?? "";
  if (succeeded) return "";
  const location = response?.headers["location"];
  if (location !== undefined) return `${why} It redirects to ${location}`;
  const said = response?.base64 === false ? gistOf(response.body) : "";
  return said === "" ? why : `${why} It said: ${said}`;
}

export function listDeliveries(values: ListOptions, id: string): Promise<number> {
  const { events } = clientOf(values);
  const listing = {
    ask: (limit: number, options: ReadOptions) => events.deliveries(id, { limit }, options),
    columns: attemptColumns,
    id: ({ attempt, started_at: at }: DeliveryAttempt) => `${attempt} ${at}`,
    empty: async () =>
      (await events.get(id)).delivery === null
        ? `No address was registered when it happened, so it is not sent by itself. Register one, then send it: gerbang events resend ${id}`
        : "It has not been sent yet.",
  };
  return printList(listing, values);
}

export async function resendEvent(values: Change, id: string): Promise<number> {
  return printObject(await clientOf(values).events.resend(id, intent(values)), values);
}

export async function triggerEvent(values: Change, type: string): Promise<number> {
  const { sandbox } = clientOf(values);
  const key = values["idempotency-key"] ?? randomUUID();
  const types = eventTypes.filter((one) => type === "all" || one === type);
  for (const one of types) {
    // An idempotency key stands for one intent, and each type is an intent of its own.
    const options = intent(values, types.length === 1 ? key : `${key}-${one}`);
    const { event_id: id } = await sandbox.events.trigger(one, options).catch((error: unknown) => {
      // The key that makes the same command safe to run again is that of all of them.
      if (!(error instanceof GerbangError)) throw error;
      throw new GerbangError({ ...error, message: error.message, cause: error.cause, idempotencyKey: key });
    });
    if (values.json) printObject({ event_id: id, type: one }, values);
    else say(words`Sent ${one} as ${id}. See how it went: gerbang events deliveries ${id}`);
  }
  return 0;
}
