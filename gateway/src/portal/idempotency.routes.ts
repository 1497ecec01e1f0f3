// The idempotency inspector: the list of used idempotency keys, and one key with the outcome of each of its requests.
import { answerView, requestView, wholeRequestView } from "../diagnostics/request-view.ts";
import { keyParams, usedKeyListSchema, usedKeysQuery, wholeKeySchema } from "../diagnostics/requests.schema.ts";
import { SECOND, wireTime } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { reply } from "../ground/reply.ts";
import { limitOf, page } from "../http/lists.ts";
import { KEY_RETENTION_HOURS } from "../idempotency/idempotency.sql.ts";
import { boundDigest, hasSameBytes, outcomeOf } from "../requests/idempotency-uses.ts";
import { keptResponse } from "../requests/request-record.ts";
import {
  type KeyState,
  countUses,
  keyStateOfRow,
  selectKey,
  selectUsedKeys,
  selectUses,
  usedKeyOfRow,
  wholeRequestOfRow,
} from "../requests/requests.sql.ts";
import type { Database } from "../store/database.ts";
import { type PortalEndpoint, memberEndpoint } from "./endpoint.ts";

const tag = "Requests";
const FIRST_USES = 10;
const NEWEST_USES = 40;

export function idempotencyEndpoints({ database }: { database: Database }): PortalEndpoint[] {
  return [
    memberEndpoint({
      method: "GET",
      path: "/portal/v1/idempotency-keys",
      operationId: "listIdempotencyKeys",
      summary: "List the idempotency keys that logged requests used, those used last first",
      tag,
      action: "requests:read",
      query: usedKeysQuery,
      success: { description: "A page of keys.", schema: usedKeyListSchema },
      async handle({ book, query }) {
        const rows = await database.query(selectUsedKeys(book, query.starting_after, limitOf(query)));
        const view = ({ key, requests, replays, conflicts, last, record }: ReturnType<typeof usedKeyOfRow>) => ({
          idempotency_key: key,
          record: record ? recordView(record) : null,
          requests,
          replays,
          conflicts,
          last_request: requestView(last),
        });
        return page(rows.map(usedKeyOfRow), query, view, ({ last }) => last.requestId);
      },
    }),
    memberEndpoint({
      method: "GET",
      path: "/portal/v1/idempotency-keys/{key}",
      operationId: "getIdempotencyKey",
      summary: "Read what became of an idempotency key: its first request, replays and conflicts",
      tag,
      action: "requests:read",
      params: keyParams,
      success: { description: "The key and its requests.", schema: wholeKeySchema },
      async handle({ book, principal: { scopes }, params: { key = "" } }) {
        // No other text can be an idempotency key, and PostgreSQL rejects some texts as parameters.
        if (!/^[\t -~]{1,255}$/.test(key)) throw noKey();
        const [[onRecord], [counts], rows] = await Promise.all([
          database.query(selectKey(book, key)),
          database.query<{ requests: number; replays: number; conflicts: number }>(countUses(book, key)),
          database.query(selectUses(book, key, FIRST_USES, NEWEST_USES)),
        ]);
        if (!onRecord && rows.length === 0) throw noKey();
        const record = onRecord && keyStateOfRow(onRecord);
        const uses = rows.map(wholeRequestOfRow);
        const bound = (onRecord?.body_digest as Buffer | undefined) ?? boundDigest(uses);
        const response = onRecord?.response as string | null | undefined;
        const stored = typeof response === "string" ? keptResponse(Buffer.from(response)) : undefined;
        return reply(200, {
          idempotency_key: key,
          record: record ? recordView(record) : null,
          ...(counts ?? { requests: 0, replays: 0, conflicts: 0 }),
          stored_response: record && stored ? answerView(scopes, { path: callOf(record)[1], response: stored }) : null,
          uses: uses.map((use) => ({
            ...wholeRequestView(scopes, use),
            outcome: outcomeOf(use),
            same_bytes: hasSameBytes(use, bound) ?? null,
          })),
        });
      },
    }),
  ];
}

const noKey = (): Fault =>
  new Fault("OBJECT_NOT_FOUND", { message: "No request on record or in the log used this idempotency key here." });

/** Method and path that a key is bound to, without the digest of the path's variable parts, which is of no use to a reader. */
const callOf = ({ endpoint }: KeyState) => endpoint.split(" ", 2) as [method: string, path: string];

function recordView(record: KeyState) {
  const { status, firstSeenAt } = record;
  return {
    endpoint: callOf(record).join(" "),
    state: status === undefined ? "in_progress" : "done",
    status: status ?? null,
    first_seen_at: wireTime(firstSeenAt),
    expires_at: wireTime(firstSeenAt + KEY_RETENTION_HOURS * 3600 * SECOND),
  };
}
