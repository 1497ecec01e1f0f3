// Which events somebody may read: an event's body shows the object that it tells of, so reading it takes the right to read that. Pure.
import { Fault } from "../ground/fault.ts";
import { type EventType, eventTypes } from "./event.ts";

/** What payments, refunds and disputes tell belongs to `events:read`; what a merchant is paid out does not. */
const NEEDED = "settlements:read";
const ofSettlements: readonly EventType[] = eventTypes.filter((type) => type.startsWith("settlement."));

/** The types of events that are not shown to whoever has these scopes. */
export function hiddenTypes(scopes: ReadonlySet<string>): readonly EventType[] {
  return scopes.has(NEEDED) ? [] : ofSettlements;
}

/** Whether an event with this body, its envelope, is shown to whoever has these scopes. */
export function isShown(scopes: ReadonlySet<string>, body: string): boolean {
  const { type } = JSON.parse(body) as { type: EventType };
  return !hiddenTypes(scopes).includes(type);
}

/** Throws FORBIDDEN where the event is not shown to whoever has these scopes. */
export function refuseUnlessShown(scopes: ReadonlySet<string>, body: string): void {
  if (!isShown(scopes, body))
    throw new Fault("FORBIDDEN", { message: `This event tells of a settlement: reading it takes ${NEEDED} as well.` });
}
