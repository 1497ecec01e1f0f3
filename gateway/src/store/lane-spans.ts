// The spans of a lane: of each command from its arrival to its answer, and of the batch that carries it, with its two flights to the database.
import { Fault } from "../ground/fault.ts";
import { type IdKind, newId } from "../ground/ids.ts";
import type { Micros } from "../ground/clock.ts";
import type { Span, Tracing } from "../ground/tracing.ts";

/** The span of a command; undefined where nothing is traced. */
export function commandSpan(tracing: Tracing, command: string, lane: string): Span | undefined {
  const parent = tracing.current()?.name;
  return tracing.begin(`command ${command}`, { parent, attributes: { "gerbang.lane": lane } });
}

/** The same outcome, told to the command's span. */
export async function toldTo<Answer>(span: Span, answer: Promise<Answer>): Promise<Answer> {
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

/** The span of a batch: a part of its first command's trace, linked with the others'. */
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

/** Runs one flight to the database in a span of its own. */
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

/** How a command makes identities: each event remembers whose trace it belongs to. */
export function identitiesIn(tracing: Tracing, span: Span | undefined): (kind: IdKind, at: Micros) => string {
  if (!span) return newId;
  return (kind, at) => {
    const id = newId(kind, at);
    if (kind === "event") tracing.remember(id, span);
    return id;
  };
}
