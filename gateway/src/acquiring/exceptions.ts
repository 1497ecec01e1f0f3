// Records reconciliation exceptions, once each, and closes them when a person has dealt with them. Money that an exception is about is
// booked nowhere before a person knows whose it is.
import type { Micros } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import { type Need, type WorkingSet, need } from "../store/working-set.ts";
import type { ExceptionKey, ExceptionKind, ReconciliationException } from "./exception.ts";
import { exceptions } from "./exceptions.sql.ts";
import type { Operation } from "./operation.ts";

/** Needs of a command that may record these kinds of exceptions about an operation. */
export function exceptionNeeds(
  { book, id, attempt }: Pick<Operation, "book" | "id" | "attempt">,
  kinds: ExceptionKind[],
): Need[] {
  return kinds.map((kind) => need(exceptions, { book, operationId: id, attempt, kind }));
}

/** Beyond so many occasions, of one operation and one kind, nothing is news. */
const OCCASIONS_MAX = 32;

/**
 * Records an exception once. Gives false when it was recorded before, whether it is open or closed. With `news` (true, or ids of which one was not
 * told before) one that was closed is opened again: it is another occasion of the same kind. What was noted about the one before stands in the audit.
 */
export function recordException(
  { set, realNow }: { set: WorkingSet; realNow: Micros },
  { book, id, kind: operationKind, gatewayCode }: Pick<Operation, "book" | "id" | "kind" | "gatewayCode">,
  attempt: number,
  kind: ExceptionKind,
  news: boolean | readonly string[] = false,
): boolean {
  const key = { book, operationId: id, attempt, kind };
  const before = set.get(exceptions, key);
  const told = before?.occasions ?? [];
  const occasions = [...new Set([...told, ...(typeof news === "boolean" ? [] : news)])].slice(0, OCCASIONS_MAX);
  const isMore = occasions.length > told.length;
  if (before) {
    const isOpenedAgain = before.closedAt !== undefined && (news === true || isMore);
    const opened = isOpenedAgain ? { closedAt: undefined, note: undefined } : {};
    if (isOpenedAgain || isMore) set.update(exceptions, { ...before, ...opened, occasions });
    return isOpenedAgain;
  }
  set.insert(exceptions, {
    ...key,
    uuid: newId("exception", realNow),
    operationKind,
    gatewayCode,
    noticedAt: realNow,
    occasions,
    closedAt: undefined,
    note: undefined,
  });
  return true;
}

/** Closes an exception with a note of what was done about it. Gives undefined when there is none, or it is closed already. */
export function closeException(
  set: WorkingSet,
  key: ExceptionKey,
  note: string,
  realNow: Micros,
): ReconciliationException | undefined {
  const before = set.get(exceptions, key);
  if (!before || before.closedAt !== undefined) return undefined;
  const closed: ReconciliationException = { ...before, closedAt: realNow, note };
  set.update(exceptions, closed);
  return closed;
}
