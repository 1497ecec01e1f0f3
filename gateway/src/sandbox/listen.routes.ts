// Listening: gives a sandbox's events to a developer's machine that has no public address. A long poll: the answer waits for an event, the
// database is queried twice a second, and no database connection is held in between.
import { z } from "zod";
import { hiddenTypes } from "../events/event-rights.ts";
import { type Clock, type Micros, SECOND, stopwatchMs, wireTime } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { idOf, idPattern, isId } from "../ground/ids.ts";
import { KeyedCount } from "../ground/keyed-count.ts";
import { type Call, type Endpoint, type Recheck, ofSandbox, readEndpoint } from "../http/endpoint.ts";
import { type Reply, reply } from "../ground/reply.ts";
import { exampleIds } from "../http/examples.ts";
import { checkedIdentity, headersSchema, identity, timestamp, wholeNumber } from "../http/shapes.ts";
import type { Book } from "../merchants/books.ts";
import type { Client, Directory, Webhook } from "../merchants/directory.ts";
import type { Database } from "../store/database.ts";
import { secretsOf } from "../webhooks/delivery-attempt.ts";
import { deliveryHeaders } from "../webhooks/sender.ts";
import { type Cursor, SEEN_MAX, beginBehind, beyond, hasMissed, pageFor } from "./listen-page.ts";
import { type ListenRow, selectEventsAfter, selectNewest } from "./listen.sql.ts";
import { CommitWatermarks } from "./watermark.ts";

const LOOK_MS = 500;
const WAIT_DEFAULT_SECONDS = 20;
const WAITS_PER_CLIENT = 4;
const WAITS_MAX = 200;

interface ListenParts {
  database: Database;
  directory: Directory;
  clock: Clock;
  /** Prefix of the service's own webhook headers. */
  headerPrefix: string;
  serviceName: string;
}

const eventId = checkedIdentity("event", "must be an event's id (evt_…)");

const eventPattern = idPattern("event").slice(1, -1);

const listenQuery = z.strictObject({
  after: eventId.optional().meta({
    description:
      "Everything up to this event was handed on. Absent: nothing is given but where to begin, which is now.",
  }),
  seen: z
    .string()
    .refine((value) => {
      const ids = value === "" ? [] : value.split(",");
      return ids.length <= SEEN_MAX && ids.every((id) => isId("event", id));
    }, `must be at most ${SEEN_MAX} ids of events with commas between them`)
    .optional()
    .meta({
      description: `What was handed on beyond \`after\`: at most ${SEEN_MAX} ids with commas between them.`,
      pattern: `^(${eventPattern}(,${eventPattern})*)?$`,
      examples: [exampleIds.event],
    }),
  wait: wholeNumber(/^(\d|1\d|2[0-5])$/, 0, 25, WAIT_DEFAULT_SECONDS, "Seconds to wait for an event."),
});

const heardEventSchema = z
  .strictObject({
    id: identity("event"),
    type: z.string().meta({ description: "Type of the event.", examples: ["payment.succeeded"] }),
    created_at: timestamp,
    body: z.string().meta({
      description: "The exact body of the delivery: hand on these bytes.",
      contentMediaType: "application/json",
    }),
    headers: headersSchema.meta({
      description: "The headers of the delivery, signed just now as its first attempt.",
    }),
  })
  .meta({ id: "ListenEvent", description: "An event and its delivery, ready to be handed on." });

const listenPageSchema = z
  .strictObject({
    data: z.array(heardEventSchema),
    next_after: identity("event").meta({
      description:
        "The `after` to go on with once all of `data` are handed on. Events beyond it that were handed on go into `seen`.",
    }),
    has_more: z.boolean(),
    forgotten_before: timestamp.nullable().meta({
      description:
        "Set when events behind `after` are forgotten and cannot be told any more: those from before this moment, by the sandbox's clock.",
    }),
    seen: z
      .array(identity("event"))
      .max(SEEN_MAX)
      .optional()
      .meta({ description: "Where it begins: what is there already beyond `next_after`, for the first `seen`." }),
  })
  .meta({
    id: "ListenPage",
    examples: [{ data: [], next_after: exampleIds.event, has_more: false, forgotten_before: null }],
  });

interface ListenEvent {
  eventId: string;
  type: string;
  createdAt: Micros;
  body: string;
}

export class Listening {
  private readonly parts: ListenParts;
  private readonly watermarks = new CommitWatermarks();
  /** Requests that wait now, by client. */
  private readonly waits = new KeyedCount();
  private stopped = false;

  constructor(parts: ListenParts) {
    this.parts = parts;
  }

  /** Number of requests that wait now. */
  get waiting(): number {
    return this.waits.inAll;
  }

  endpoints(): Endpoint[] {
    return [
      readEndpoint({
        operationId: "listenToEvents",
        path: "/v1/sandbox/events/listen",
        summary: "Wait for events of your sandbox",
        description:
          "To hand them on to your own machine, as `gerbang listen` does. It takes `events:read` as well, and `settlements:read` for events of settlements.",
        ...ofSandbox,
        forCredentialsOnly: true,
        success: {
          description: "The events that came, oldest first; none when the time was up.",
          schema: listenPageSchema,
        },
        query: listenQuery,
        handle: (call, recheck) => this.listen(call, recheck),
      }),
    ];
  }

  /** Ends all waiting: each listener gets an empty answer, and asks another process next. */
  stop(): void {
    this.stopped = true;
  }

  private async listen(call: Call, recheck: Recheck): Promise<Reply> {
    const { after, seen = "", wait = String(WAIT_DEFAULT_SECONDS) } = call.query as z.infer<typeof listenQuery>;
    if (!call.principal.scopes.has("events:read")) throw new Fault("FORBIDDEN", { details: { scope: "events:read" } });
    if (after === undefined) return this.begin(call);
    const cursor: Cursor = { after, seen: seen === "" ? [] : [...new Set(seen.split(","))] };
    const { actor: clientId } = call.principal;
    this.occupy(clientId);
    try {
      return await this.waitForEvents(call, recheck, cursor, Number(wait) * 1000);
    } finally {
      this.waits.add(clientId, -1);
    }
  }

  /** The answer without `after`: a cursor behind all events that are visible now, so that only later ones are given. */
  private async begin({ book, principal }: Call): Promise<Reply> {
    const { database, clock } = this.parts;
    const watermark = this.watermarks.upTo(book, clock.now());
    const rows = await database.query<ListenRow>(selectNewest(book, hiddenTypes(principal.scopes)));
    this.notice(book, rows);
    const newest = rows.flatMap(({ event_id: id }) => (id === null ? [] : [idOf("event", id)]));
    const { after, seen } = beginBehind(newest, watermark);
    return reply(200, { data: [], next_after: after, has_more: false, forgotten_before: null, seen });
  }

  private notice(book: Book, rows: readonly ListenRow[]): void {
    this.watermarks.observe(book, Number(rows[0]?.clock_offset_seconds ?? 0n), this.parts.clock.now());
  }

  private async waitForEvents(call: Call, recheck: Recheck, cursor: Cursor, waitMs: number): Promise<Reply> {
    const { database, clock } = this.parts;
    const begun = stopwatchMs();
    for (;;) {
      const client = await this.stillWelcome(call.principal.actor, recheck);
      const watermark = this.watermarks.upTo(call.book, clock.now());
      const rows = await database.query<ListenRow>(selectEventsAfter(call.book, cursor, hiddenTypes(client.scopes)));
      this.notice(call.book, rows);
      const forgotten = rows[0]?.last_forgotten ?? undefined;
      const lastForgotten = forgotten === undefined ? undefined : idOf("event", forgotten);
      const missed = hasMissed(cursor, lastForgotten);
      const page = beyond(pageFor(cursor, rows.flatMap(eventOf), watermark), missed ? lastForgotten : undefined);
      const over = stopwatchMs() - begun + LOOK_MS > waitMs || this.stopped || call.hungUp();
      if (page.events.length > 0 || missed || over) {
        const data = page.events.map((event) => this.view(event, client));
        const before = missed ? (rows[0]?.forgotten_before ?? null) : null;
        const forgottenBefore = before === null ? null : wireTime(before);
        return reply(200, { data, next_after: page.nextAfter, has_more: page.more, forgotten_before: forgottenBefore });
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  /** Checks the credential again during the wait, as for a new request: one that was revoked or has expired gets no more events. */
  private async stillWelcome(clientId: string, recheck: Recheck): Promise<Client> {
    const client = await this.parts.directory.client(clientId);
    if (!client) throw new Fault("CLIENT_NOT_FOUND");
    recheck(client);
    return client;
  }

  private view(event: ListenEvent, { merchant, book }: Client): z.infer<typeof listenPageSchema>["data"][number] {
    const { clock, headerPrefix, serviceName } = this.parts;
    const { eventId: id, type, body, createdAt } = event;
    const now = clock.now();
    const headers = deliveryHeaders({
      prefix: headerPrefix,
      serviceName,
      secrets: secretsOf(merchant.webhooks[book.environment] as Webhook, now),
      eventId: id,
      type,
      body,
      attempt: 1,
      timestamp: Math.floor(now / SECOND),
    });
    return { id, type, created_at: wireTime(createdAt), body, headers };
  }

  private occupy(clientId: string): void {
    const own = this.waits.of(clientId);
    if (own >= WAITS_PER_CLIENT) {
      const message = `This client listens ${own} times already. End one of them first.`;
      throw new Fault("RATE_LIMITED", { message, retryAfterSeconds: 5 });
    }
    if (this.waits.inAll >= WAITS_MAX) throw new Fault("SERVICE_UNAVAILABLE", { retryAfterSeconds: 5 });
    this.waits.add(clientId, 1);
  }
}

function eventOf(row: ListenRow): ListenEvent[] {
  if (row.event_id === null) return [];
  return [{ eventId: idOf("event", row.event_id), type: row.type, createdAt: row.created_at, body: row.body }];
}
