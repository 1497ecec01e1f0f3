// The spans of a lane: one for each command from its arrival to its answer, one for its batch, and one for each of the batch's two round trips.
import { Fault } from "../ground/fault.ts";
import { type IdKind, newId } from "../ground/ids.ts";
import type { Micros } from "../ground/clock.ts";
import type { Span, Tracing } from "../ground/tracing.ts";

/** The span of a command; undefined when nothing is traced. */
export function commandSpan(tracing: Tracing, command: string, lane: string): Span | undefined {
  const parent = tracing.current()?.name;
  return tracing.begin(`command ${command}`, { parent, attributes: { "gerbang.lane": lane } });
}

/** Passes the outcome on, and ends the command's span with it. */
export async function endingWith<Answer>(span: Span, answer: Promise<Answer>): Promise<Answer> {
  try {
    const given = await answer;
    span.end();
    return given;
  } catch (error) {
    const refusal = error instanceof Fault && error.status < 500 ? error.code : undefined;
    if (refusal !== undefined) span.set({ "gerbang.code": refusal });
    span.end(refusal === undefined ? (error instanceof Fault ? error.code : "unexpected") : undefined);
    throw error;
  }
}

/** The span of a batch: a child of its first command's span, linked with the spans of the other commands. */
export function batchSpan(tracing: Tracing, lane: string, commands: readonly (Span | undefined)[]): Span | undefined {
  const spans = commands.filter((span) => span !== undefined);
  const [first, ...others] = spans;
  const batch = tracing.begin("batch", {
    parent: first?.name,
    links: others.map(({ name }) => name),
    attributes: { "gerbang.lane": lane, "gerbang.commands": commands.length },
  });
  if (batch) for (const span of others) span.link(batch.name);
  return batch;
}

/** Runs one round trip to the database in a span of its own. */
export async function flightSpan<T>(
  tracing: Tracing,
  title: string,
  batch: Span | undefined,
  steps: number,
  fly: () => Promise<T>,
): Promise<T> {
  const span = tracing.begin(title, {
    kind: "client",
    parent: batch?.name,
    attributes: { "db.system.name": "postgresql", "gerbang.statements": steps },
  });
  if (!span) return fly();
  try {
    const flown = await fly();
    span.end();
    return flown;
  } catch (error) {
    span.end("rejected");
    throw error;
  }
}

/** The function with which a command makes identities. It remembers, for the identity of each event, the command's span. */
export function identitiesIn(tracing: Tracing, span: Span | undefined): (kind: IdKind, at: Micros) => string {
  if (!span) return newId;
  return (kind, at) => {
    const id = newId(kind, at);
    if (kind === "event") tracing.remember(id, span);
    return id;
  };
}
