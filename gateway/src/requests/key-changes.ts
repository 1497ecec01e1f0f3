// What a key changed: the audit of signed requests, read by key.
import { type Micros, wireTime } from "../ground/clock.ts";
import { idOf } from "../ground/ids.ts";
import type { Reply } from "../ground/reply.ts";
import { cursorOf, limitOf, page } from "../http/lists.ts";
import type { Database, Row } from "../store/database.ts";
import { type KeyName, selectKeyChange, selectKeyChanges } from "./key-changes.sql.ts";

/** A page of a key's changes, newest first. Throws VALIDATION_ERROR for an unknown cursor. */
export async function keyChanges(
  database: Database,
  key: KeyName,
  query: { limit?: string | undefined; starting_after?: string | undefined },
): Promise<Reply> {
  const after = await cursorOf(query, (id) => database.first(selectKeyChange(key, id), () => true));
  return page(await database.query(selectKeyChanges(key, after, limitOf(query) + 1)), query, view, requestOf);
}

function view(row: Row): Record<string, unknown> {
  const { action, subject, status, address } = row;
  return {
    request_id: requestOf(row),
    at: wireTime(row.at as Micros),
    action,
    subject: subject === "" ? null : subject,
    status,
    address,
  };
}

const requestOf = (row: Row): string => idOf("request", row.request_id as string);
