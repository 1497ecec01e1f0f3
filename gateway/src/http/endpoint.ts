// What an endpoint is: its path, who may call it, its shapes, and what it does. The contract is generated from the same value.
import type { z } from "zod";
import type { Micros } from "../ground/clock.ts";
import type { Book } from "../merchants/books.ts";
import type { Merchant, Principal, Scope } from "../merchants/directory.ts";
import type { Command } from "../store/lane.ts";
import type { Reply } from "../ground/reply.ts";
import type { FieldRules } from "./fields.ts";
import type { Described, Examples } from "./openapi.ts";
import type { Nonce } from "../auth/nonces.sql.ts";
import type { Intent } from "../idempotency/idempotency.ts";

/** A request that passed the edge. */
export interface Call {
  requestId: string;
  principal: Principal;
  merchant: Merchant;
  book: Book;
  realNow: Micros;
  /** Of a write: the key it runs under. */
  idempotencyKey: string;
  /** Parts of the path by name, as sent. */
  params: Readonly<Record<string, string>>;
  /** Parsed and checked by the endpoint's query schema. */
  query: Readonly<Record<string, unknown>>;
  /** Of a write: its signature, to be consumed with its effect; undefined once it is. */
  nonce: Nonce | undefined;
  /** True when nobody waits for the answer any more. */
  hungUp(): boolean;
}

interface DescribedForMerchants extends Described {
  scope: Scope;
  sandboxOnly?: boolean;
  /** It is about the credential that asks: people have none, and it is not mounted for them. */
  forCredentialsOnly?: true;
}

export interface ReadEndpoint extends DescribedForMerchants {
  kind: "read";
  query?: z.ZodType<Record<string, unknown>>;
  handle(call: Call): Promise<Reply>;
}

export interface WriteEndpoint<Body = unknown> extends DescribedForMerchants {
  kind: "write";
  /** POST unless it says otherwise. */
  method?: "PUT";
  /** No body at all means an empty object, where that is one. */
  body: FieldRules<Body>;
  /** Bodies for the contract; the example of the body's schema when absent. */
  bodyExamples?: Examples;
  /** True where `judge` acts on the world outside: the signature is used up for everybody before. */
  actsFirst?: boolean;
  /** Rules beyond the schema that need the merchant's settings; throws in the order of the interface. */
  judge?(
    call: Call,
    input: Record<string, unknown>,
    found: { value: Body } | { rank: number; fault: Error },
  ): Body | Promise<Body>;
  /** The change of state. It runs under the idempotency key. */
  command(call: Call, body: Body): Command<Reply>;
  /** The same request again while its key is in progress: the command to go on with, or undefined when it is to wait. */
  resume?(call: Call, intent: Intent): Promise<Command<Reply> | undefined>;
  /** Creations add rows of their own; everything else moves in the merchant's lane. */
  lane: "create" | "move";
  /** What follows from a change that was made just now, before the answer is given. */
  after?(call: Call): Promise<void>;
}

export type Endpoint = ReadEndpoint | WriteEndpoint;

export function methodOf(endpoint: Endpoint): "GET" | "POST" | "PUT" {
  return endpoint.kind === "read" ? "GET" : (endpoint.method ?? "POST");
}

/** Keeps the body's type inside one definition and forgets it outside. */
export function writeEndpoint<Body>(endpoint: Omit<WriteEndpoint<Body>, "kind">): Endpoint {
  return { kind: "write", ...endpoint } as unknown as Endpoint;
}

export function readEndpoint(endpoint: Omit<ReadEndpoint, "kind">): Endpoint {
  return { kind: "read", ...endpoint };
}

/** A command of the house as an endpoint answers with it. */
export function answering<Answer>(command: Command<Answer>, view: (answer: Answer) => Reply): Command<Reply> {
  return {
    name: command.name,
    book: command.book,
    needs: command.needs,
    ...(command.onLocked && { onLocked: command.onLocked }),
    execute: (set, moment) => view(command.execute(set, moment)),
  };
}
