// The body and the query of an endpoint that is no merchant's system's: taken as sent and held against their rules.
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { Fault } from "../ground/fault.ts";
import { MalformedJson, parseObject } from "../ground/json.ts";
import { type FieldRules, allOptional, judgeFields } from "./fields.ts";

export type Rules<Value> = FieldRules<Value> | z.ZodType<Value>;

/** The body as sent: nothing asked for, an object, or bytes that are none. */
export interface SentBody {
  object?: Record<string, unknown>;
  malformed?: boolean;
}

const nothingAsked = z.strictObject({});

export function rulesOf<Value>(rules: Rules<Value>): FieldRules<Value> {
  return rules instanceof z.ZodType ? { schema: rules, order: [] } : rules;
}

/** Reads the body of a request whose endpoint has these rules for it. No body at all means an empty object, where that is one. */
export function sentBody(request: FastifyRequest, rules: Rules<unknown> | undefined): SentBody {
  return bodyOf(sentBytes(request), rules);
}

/** The bytes of a request's body. */
export function sentBytes({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

/** The same of bytes that were kept. */
export function bodyOf(sent: Buffer, rules: Rules<unknown> | undefined): SentBody {
  if (!rules) return {};
  try {
    return { object: sent.length === 0 && allOptional(rulesOf(rules)) ? {} : parseObject(sent) };
  } catch (error) {
    if (error instanceof MalformedJson) return { malformed: true };
    throw error;
  }
}

/**
 * Body and query once they passed their rules. Unlike in the merchants' API `null` never stands for a field left out here: where leaving one
 * out means "all", that would be too easy. Throws MALFORMED_JSON, and what the rules say.
 */
export function judgeInput<Body, Query>(
  rules: { body?: Rules<Body> | undefined; query?: Rules<Query> | undefined },
  sent: SentBody,
  query: unknown,
): { body: Body; query: Query } {
  if (sent.malformed) throw new Fault("MALFORMED_JSON");
  return {
    query: judged(rulesOf(rules.query ?? (nothingAsked as unknown as Rules<Query>)), query),
    body: rules.body ? judged(rulesOf(rules.body), sent.object) : (undefined as Body),
  };
}

function judged<Value>(rules: FieldRules<Value>, input: unknown): Value {
  const found = judgeFields(rules, input);
  if ("fault" in found) throw found.fault;
  return found.value;
}
