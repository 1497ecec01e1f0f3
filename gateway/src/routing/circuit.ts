// Circuits: how each acquirer does with each method, as its latest calls tell. Pure but for what it remembers; this process
// knows its own calls only, so each process finds out for itself.
import { type Micros, SECOND } from "../ground/clock.ts";

/** Calls older than this say nothing any more. */
const WINDOW: Micros = 60 * SECOND;
/** Fewer calls than this are no verdict. */
const CALLS_MIN = 5;
/** More are not remembered. */
const CALLS_MAX = 50;
/** How long an open circuit stays open before one call may try; doubled at each try that fails. */
const REST_FIRST: Micros = 10 * SECOND;
const REST_MAX: Micros = 160 * SECOND;

export type CircuitState = "closed" | "open" | "probing";

export interface CircuitReport {
  gatewayCode: string;
  method: string;
  state: CircuitState;
  /** Calls within the window, and how many of them failed. */
  calls: number;
  failures: number;
}

/** Leave to make one call; its end is told with it. */
export interface Leave {
  /** This call decides whether the circuit closes. */
  probe: boolean;
}

/** Opens when half of the latest calls failed; after a rest one call probes, and closes it or lets it rest longer. */
export class Circuit {
  private outcomes: { at: Micros; ok: boolean }[] = [];
  private restUntil: Micros | undefined;
  private rest: Micros = REST_FIRST;
  private probing = false;

  state(now: Micros): CircuitState {
    if (this.restUntil === undefined) return "closed";
    return this.probing || now >= this.restUntil ? "probing" : "open";
  }

  /** True while a call may be begun. */
  admits(now: Micros): boolean {
    return this.restUntil === undefined || (now >= this.restUntil && !this.probing);
  }

  /** Asks to make a call. Undefined while the circuit is open, or while another call is the probe. */
  begin(now: Micros): Leave | undefined {
    if (!this.admits(now)) return undefined;
    this.probing = this.restUntil !== undefined;
    return { probe: this.probing };
  }

  /** Tells how a call that was begun ended. What was begun before the circuit opened says nothing about its probe. */
  record({ probe }: Leave, ok: boolean, now: Micros): void {
    if (probe) {
      this.probing = false;
      if (ok) {
        this.restUntil = undefined;
        this.rest = REST_FIRST;
        this.outcomes = [];
      } else {
        this.rest = Math.min(this.rest * 2, REST_MAX);
        this.restUntil = now + this.rest;
      }
      return;
    }
    this.outcomes = [...this.fresh(now), { at: now, ok }].slice(-CALLS_MAX);
    const { calls, failures } = this.count(now);
    if (this.restUntil === undefined && calls >= CALLS_MIN && failures * 2 >= calls) this.restUntil = now + this.rest;
  }

  count(now: Micros): { calls: number; failures: number } {
    const fresh = this.fresh(now);
    return { calls: fresh.length, failures: fresh.filter(({ ok }) => !ok).length };
  }

  private fresh(now: Micros): { at: Micros; ok: boolean }[] {
    return this.outcomes.filter(({ at }) => at > now - WINDOW);
  }
}

/** The circuits of all acquirers and methods. */
export class Circuits {
  private readonly circuits = new Map<string, Circuit>();

  /** Which take no call now, as `<gateway_code>/<method>`: open, or waiting for the end of their probe. */
  open(now: Micros): ReadonlySet<string> {
    const open = [...this.circuits].filter(([, circuit]) => !circuit.admits(now)).map(([name]) => name);
    return open.length === 0 ? none : new Set(open);
  }

  begin(gatewayCode: string, method: string, now: Micros): Leave | undefined {
    return this.of(gatewayCode, method).begin(now);
  }

  record(gatewayCode: string, method: string, leave: Leave, ok: boolean, now: Micros): void {
    this.of(gatewayCode, method).record(leave, ok, now);
  }

  report(now: Micros): CircuitReport[] {
    return [...this.circuits].map(([name, circuit]) => {
      const [gatewayCode = "", method = ""] = name.split("/");
      return { gatewayCode, method, state: circuit.state(now), ...circuit.count(now) };
    });
  }

  private of(gatewayCode: string, method: string): Circuit {
    const name = `${gatewayCode}/${method}`;
    let circuit = this.circuits.get(name);
    if (!circuit) this.circuits.set(name, (circuit = new Circuit()));
    return circuit;
  }
}

const none: ReadonlySet<string> = new Set();
