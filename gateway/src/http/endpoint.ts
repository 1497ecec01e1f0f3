// The definition of an endpoint: its path, scope, schemas and handler. The OpenAPI document is generated from the same value.
import type { z } from "zod";
import type { Micros } from "../ground/clock.ts";
import type { Book } from "../merchants/books.ts";
import type { Client, Merchant, Principal, Scope } from "../merchants/directory.ts";
import type { Command } from "../store/command.ts";
import type { Reply } from "../ground/reply.ts";
import type { FieldRules, Judged } from "./fields.ts";
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
  /** Idempotency key of a write; empty for a read. */
  idempotencyKey: string;
  /** Path parameters by name, as sent. */
  params: Readonly<Record<string, string>>;
  /** Query parameters, parsed by the endpoint's query schema. */
  query: Readonly<Record<string, unknown>>;
  /** Nonce of a write's signature, consumed in the write's transaction; undefined once consumed. */
  nonce: Nonce | undefined;
  /** True when the client has hung up. */
  hungUp(): boolean;
}

/** Checks a credential as it is now, as for a new request: for answers that wait. Throws what that request would be refused with. */
export type Recheck = (client: Client) => void;

interface DescribedForMerchants extends Described {
  scope: Scope;
  sandboxOnly?: boolean;
  /** The endpoint is about the calling credential, so it is not available to people in the portal. */
  forCredentialsOnly?: true;
}

export interface ReadEndpoint extends DescribedForMerchants {
  kind: "read";
  query?: z.ZodType<Record<string, unknown>>;
  handle(call: Call, recheck: Recheck): Promise<Reply>;
}

export interface WriteEndpoint<Body = unknown> extends DescribedForMerchants {
  kind: "write";
  /** POST when absent. */
  method?: "PUT";
  /** Rules of the body. A missing body counts as an empty object where all fields are optional. */
  body: FieldRules<Body>;
  /** Example bodies for the OpenAPI document; the example of the body's schema when absent. */
  bodyExamples?: Examples;
  /** Set where something is only computed: it is no change of the key's. */
  changesNothing?: true;
  /** True when `judge` has effects outside the database: the signature is consumed before it runs. */
  actsFirst?: boolean;
  /** Checks rules beyond the schema that need the merchant's settings. Throws the fault that comes first in the interface's order. */
  judge?(call: Call, input: Record<string, unknown>, found: Judged<Body>): Body | Promise<Body>;
  /** The change of state, which runs under the idempotency key. */
  command(call: Call, body: Body): Command<Reply>;
  /** For a request that comes again while its key is in progress: gives the command that continues it, or undefined to refuse it. */
  resume?(call: Call, intent: Intent): Promise<Command<Reply> | undefined>;
  /** Set for creations, which add rows of their own; everything else moves in the merchant's lane. */
  lane?: "create";
  /** Runs after the commit of the change and before its answer. */
  after?(call: Call): Promise<void>;
}

export type Endpoint = ReadEndpoint | WriteEndpoint;

export function methodOf(endpoint: Endpoint): "GET" | "POST" | "PUT" {
  return endpoint.kind === "read" ? "GET" : (endpoint.method ?? "POST");
}

/** The name of an operation in audits: in snake case, at most 40 characters. */
export function actionOf(operationId: string): string {
  return operationId.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).slice(0, 40);
}

/** Keeps the body's type inside one definition and forgets it outside. */
export function writeEndpoint<Body>(endpoint: Omit<WriteEndpoint<Body>, "kind">): Endpoint {
  return { kind: "write", ...endpoint } as unknown as Endpoint;
}

export function readEndpoint(endpoint: Omit<ReadEndpoint, "kind">): Endpoint {
  return { kind: "read", ...endpoint };
}

/** What the endpoints that only sandbox keys may call have in common. */
export const ofSandbox = { tag: "Sandbox", scope: "sandbox:write", sandboxOnly: true } as const;

/** Turns a command into one whose result is the HTTP answer that `view` makes. */
export function answering<Answer>(command: Command<Answer>, view: (answer: Answer) => Reply): Command<Reply> {
  return {
    name: command.name,
    book: command.book,
    needs: command.needs,
    ...(command.onLocked && { onLocked: command.onLocked }),
    execute: (set, moment) => view(command.execute(set, moment)),
  };
}
