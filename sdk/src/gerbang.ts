// The client: its configuration, and the resources that it can call.
import { Calls, type ReadOptions } from "./calls.ts";
import { GerbangError } from "./errors.ts";
import { Events } from "./events.ts";
import { Balances, Disputes, Refunds, Settlements } from "./money.ts";
import { PaymentLinks, Payments } from "./payments.ts";
import { type Sandbox, sandboxOf } from "./sandbox.ts";
import type { Tracer } from "./tracing.ts";
import { type Hooks, Transport, sleep } from "./transport.ts";
import type { Health } from "./types.ts";
import { version } from "./version.ts";
import * as webhooks from "./webhooks.ts";

export interface GerbangOptions {
  /** `ak_test_…` or `ak_live_…`; GERBANG_CLIENT_ID by default. */
  clientId?: string | undefined;
  /** `sk_test_…` or `sk_live_…`; GERBANG_SECRET by default. It is never sent, logged or shown. */
  secret?: string | undefined;
  /** Address of the service, with /v1 or without; GERBANG_BASE_URL by default. */
  baseUrl?: string | undefined;
  /** RFC 9421 (the default), or the interface's own scheme, which signs timestamp and body. */
  signature?: "rfc9421" | "timestamp";
  /** Time for one attempt, in milliseconds; 30 s by default. */
  timeoutMs?: number;
  /** Time for all attempts of a call and the waits between them, in milliseconds; 120 s by default. */
  deadlineMs?: number;
  /** Replaces the platform's `fetch`. */
  fetch?: typeof fetch;
  hooks?: Hooks;
  /** A tracer of `@opentelemetry/api`: each call becomes a span. */
  tracer?: Tracer;
  /** Adds headers to each attempt, such as trace headers. */
  propagate?: (headers: Record<string, string>) => void;
  /** Time, waiting and random numbers, for tests. */
  now?: () => number;
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  random?: () => number;
}

export class Gerbang {
  readonly payments: Payments;
  readonly paymentLinks: PaymentLinks;
  readonly refunds: Refunds;
  readonly balances: Balances;
  readonly settlements: Settlements;
  readonly disputes: Disputes;
  readonly events: Events;
  readonly sandbox: Sandbox;
  readonly webhooks = webhooks;
  readonly #calls: Calls;

  /** Throws CONFIGURATION_INVALID. Makes no call. */
  constructor(options: GerbangOptions = {}) {
    const clientId = setting(options.clientId, "clientId", "GERBANG_CLIENT_ID");
    const secret = setting(options.secret, "secret", "GERBANG_SECRET");
    if (!/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(clientId)) throw invalid("clientId: begins with ak_test_ or ak_live_.");
    const transport = new Transport({
      clientId,
      secret,
      origin: originOf(setting(options.baseUrl, "baseUrl", "GERBANG_BASE_URL")),
      signature: options.signature ?? "rfc9421",
      fetch: options.fetch ?? ((...asked) => globalThis.fetch(...asked)),
      timeoutMs: milliseconds(options.timeoutMs ?? 30_000, "timeoutMs"),
      deadlineMs: milliseconds(options.deadlineMs ?? 120_000, "deadlineMs"),
      hooks: options.hooks ?? {},
      propagate: options.propagate,
      userAgent: `gerbang-sdk/${version}`,
      now: options.now ?? Date.now,
      sleep: options.sleep ?? sleep,
      random: options.random ?? Math.random,
    });
    const calls = new Calls(transport, options.tracer);
    this.#calls = calls;
    this.payments = new Payments(calls);
    this.paymentLinks = new PaymentLinks(calls);
    this.refunds = new Refunds(calls);
    this.balances = new Balances(calls);
    this.settlements = new Settlements(calls);
    this.disputes = new Disputes(calls);
    this.events = new Events(calls);
    this.sandbox = sandboxOf(calls);
  }

  /** Whether the service works. The service needs no key for this, but the call is signed like all others. */
  health(options?: ReadOptions): Promise<Health> {
    return this.#calls.read("health", "/v1/health", options);
  }
}

/** A function that is declared: such begin a line of the package, and Node prints an error that nobody catches below the line that made it. */
function invalid(message: string): GerbangError {
  return new GerbangError({ code: "CONFIGURATION_INVALID", message });
}

function setting(given: string | undefined, name: string, variable: string): string {
  const value =
    given ?? (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env?.[variable];
  if (typeof value === "string" && value !== "") return value;
  throw invalid(`${name} is missing: give it, or set ${variable}.`);
}

function milliseconds(value: number, name: string): number {
  if (Number.isFinite(value) && value > 0) return value;
  throw invalid(`${name}: a number of milliseconds above 0.`);
}

/** Scheme, host and path before /v1. */
function originOf(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) throw invalid("baseUrl: not an address. It looks like https://pay.example.com/v1.");
  const { protocol, origin, pathname, username, password, search, hash } = new URL(baseUrl);
  if (!/^https?:$/.test(protocol)) throw invalid("baseUrl: begins with https:// (or http:// on your own machine).");
  if (username + password + search + hash !== "") throw invalid("baseUrl: without user, query and fragment.");
  return origin + pathname.replace(/\/+$/, "").replace(/\/v1$/, "");
}
