// Decides which events the holder of some scopes may read: an event shows an object, whose scope its reader needs. No I/O.
import { Fault } from "../ground/fault.ts";
import { type EventType, eventTypes } from "./event.ts";

/** The scope that events of settlements need besides `events:read`. */
const NEEDED = "settlements:read";
const ofSettlements: readonly EventType[] = eventTypes.filter((type) => type.startsWith("settlement."));

/** Event types that a holder of these scopes may not read. */
export function hiddenTypes(scopes: ReadonlySet<string>): readonly EventType[] {
  return scopes.has(NEEDED) ? [] : ofSettlements;
}

/** True when a holder of these scopes may read the event; `body` is its envelope. */
export function isShown(scopes: ReadonlySet<string>, body: string): boolean {
  const { type } = JSON.parse(body) as { type: EventType };
  return !hiddenTypes(scopes).includes(type);
}

/** Throws FORBIDDEN when a holder of these scopes may not read the event. */
export function refuseUnlessShown(scopes: ReadonlySet<string>, body: string): void {
  if (!isShown(scopes, body))
    throw new Fault("FORBIDDEN", { message: `This event tells of a settlement: reading it takes ${NEEDED} as well.` });
}
