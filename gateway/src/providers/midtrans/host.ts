// Requests to Midtrans' two hosts, with the current server key and with idempotency keys.
import { printable } from "../../acquirers/remote-http.ts";
import type { Clock } from "../../ground/clock.ts";
import { type CallContext, Caller, type ProviderAnswer } from "../caller.ts";
import { type Secret, openSecret } from "../secrets.ts";
import { type MidtransProfile, addressesOf } from "./profile.ts";
import { headersOf } from "./requests.ts";

/** `later`: certainly not done, but possible later as a new order under another key. */
export type Tried<Done> = Done | { no: { meaning: string; unavailable: boolean; later?: boolean } };

/** Status codes of an inquiry about an existing transaction; 407 is an expired one. */
export const FOUND: readonly string[] = ["200", "201", "202", "407"];

export class Host {
  readonly profile: MidtransProfile;
  readonly clock: Clock;
  readonly key: Secret;
  /** Base address for card pages. */
  readonly snap: string;
  /** True when the whole provider is a fake on this machine: its addresses may be plain http. */
  readonly plainOnLoopback: boolean;
  private readonly caller: Caller;

  constructor(profile: MidtransProfile, clock: Clock) {
    const { core, snap } = addressesOf(profile);
    this.profile = profile;
    this.clock = clock;
    this.snap = snap;
    this.plainOnLoopback = core.startsWith("http:");
    this.key = openSecret(profile.server_key);
    const { code, deadline_ms: deadlineMs, connections } = profile;
    this.caller = new Caller({ code, baseUrl: core, deadlineMs, connections });
  }

  get(path: string, context: CallContext): Promise<ProviderAnswer> {
    return this.caller.call({ method: "GET", path, headers: headersOf(this.key.current()) }, context);
  }

  post(
    path: string,
    body: object | undefined,
    context: CallContext,
    { baseUrl, ...named }: { baseUrl?: string; idempotencyKey?: string; notifyUrl?: string } = {},
  ): Promise<ProviderAnswer> {
    const headers = headersOf(this.key.current(), { ...named, plain: this.plainOnLoopback });
    const text = JSON.stringify(body ?? {});
    const place = baseUrl === undefined ? {} : { baseUrl };
    return this.caller.order({ method: "POST", path, headers, body: text, ...place }, context);
  }

  close(): Promise<void> {
    return this.caller.close();
  }
}

/** Describes a definite refusal in a sentence, with Midtrans' own message. */
export function refusal(what: string, code: string, meaning: string, { body }: ProviderAnswer): string {
  const message = body?.["status_message"];
  const theirs = typeof message === "string" ? `: ${printable(message)}` : "";
  return `Midtrans refused ${what} with ${code} (${meaning})${theirs}`;
}
