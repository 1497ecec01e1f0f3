// Records reconciliation exceptions, once each, and closes them when a person has dealt with them. Money that an exception is about is
// booked nowhere before a person knows whose it is.
import type { Micros } from "../ground/clock.ts";
import { Fault, validationFault } from "../ground/fault.ts";
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
 * Records an exception once. Gives false when it was recorded before, whether it is open or closed. With an occasion that was not told before, or
 * `isAlwaysNews`, one that was closed is opened again. What was noted about the one before stands in the audit.
 */
export function recordException(
  { set, realNow }: { set: WorkingSet; realNow: Micros },
  { book, id, kind: operationKind, gatewayCode }: Pick<Operation, "book" | "id" | "kind" | "gatewayCode">,
  attempt: number,
  kind: ExceptionKind,
  { occasions: found = [], isAlwaysNews = false }: { occasions?: readonly string[]; isAlwaysNews?: boolean } = {},
): boolean {
  const key = { book, operationId: id, attempt, kind };
  const before = set.get(exceptions, key);
  const known = before?.occasions ?? [];
  const occasions = [...new Set([...known, ...found])].slice(0, OCCASIONS_MAX);
  const isMore = occasions.length > known.length;
  if (before) {
    const isOpenedAgain = before.closedAt !== undefined && (isAlwaysNews || isMore);
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

/**
 * Closes an exception with a note of what was done about it. Throws OBJECT_NOT_FOUND when there is none, or it is closed already, and
 * VALIDATION_ERROR when it is about more than the occasions that were `seen`.
 */
export function closeException(
  { set, realNow }: { set: WorkingSet; realNow: Micros },
  key: ExceptionKey,
  { note, occasions: seen }: { note: string; occasions?: readonly string[] | undefined },
): ReconciliationException {
  const before = set.get(exceptions, key);
  if (!before || before.closedAt !== undefined)
    throw new Fault("OBJECT_NOT_FOUND", { message: "No such reconciliation exception is open." });
  const more = seen ? before.occasions.filter((one) => !seen.includes(one)) : [];
  if (more.length > 0)
    throw validationFault("occasions", seen, `It is also about ${more.join(", ")}. Look at it again first.`);
  const closed: ReconciliationException = { ...before, closedAt: realNow, note };
  set.update(exceptions, closed);
  return closed;
}
