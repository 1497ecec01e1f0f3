// Reads and checks the body and the query of endpoints outside the merchants' API, such as those of operators and people.
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { Fault } from "../ground/fault.ts";
import { objectOf } from "../ground/json.ts";
import { type FieldRules, allOptional, judged, nothingAsked } from "./fields.ts";

type Rules<Value> = FieldRules<Value> | z.ZodType<Value>;

/** A body: a parsed object, or `malformed`; nothing for a read, whose body has no meaning. */
export interface SentBody {
  object?: Record<string, unknown>;
  malformed?: boolean;
}

export function rulesOf<Value>(rules: Rules<Value>): FieldRules<Value> {
  return rules instanceof z.ZodType ? { schema: rules, order: [] } : rules;
}

/** Reads a body by the rules of its endpoint. None counts as an empty object where all fields are optional, or none is taken. */
export function sentBody(request: FastifyRequest, rules: Rules<unknown> | undefined): SentBody {
  return request.method === "GET" || request.method === "HEAD" ? {} : bodyOf(sentBytes(request), rules);
}

export function sentBytes({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

/** Reads the bytes of a body, as `sentBody` does those of its request. */
export function bodyOf(sent: Buffer, rules: Rules<unknown> | undefined): SentBody {
  const object = sent.length === 0 && allOptional(rulesOf(rules ?? nothingAsked)) ? {} : objectOf(sent);
  return object ? { object } : { malformed: true };
}

/**
 * Gives body and query after checking their rules. Unlike in the merchants' API, `null` never counts as a field left out: where a missing
 * field means "all", a mistake would reach too far. Throws MALFORMED_JSON, and the faults of the rules.
 */
export function judgeInput<Body, Query>(
  rules: { body?: Rules<Body> | undefined; query?: Rules<Query> | undefined },
  sent: SentBody,
  query: unknown,
): { body: Body; query: Query } {
  if (sent.malformed) throw new Fault("MALFORMED_JSON");
  // A field that an endpoint does not take would be lost without a word, such as the reason of a change.
  if (!rules.body) judged(nothingAsked, sent.object ?? {});
  return {
    query: judged(rulesOf(rules.query ?? (nothingAsked as Rules<Query>)), query),
    body: rules.body ? judged(rulesOf(rules.body), sent.object) : (undefined as Body),
  };
}
