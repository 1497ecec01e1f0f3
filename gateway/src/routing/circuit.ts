// Circuit breakers, one for each acquirer and method, fed by the latest calls of this process alone: each process finds out for itself. Pure but
// for the remembered outcomes.
import { type Micros, SECOND } from "../ground/clock.ts";

/** Older calls are not counted. */
const WINDOW: Micros = 60 * SECOND;
/** Fewer calls than this do not open the circuit. */
const CALLS_MIN = 5;
/** At most this many calls are remembered. */
const CALLS_MAX = 50;
/** How long a circuit stays open before a probe; doubled, up to REST_MAX, after each probe that fails. */
const REST_FIRST: Micros = 10 * SECOND;
const REST_MAX: Micros = 160 * SECOND;

type CircuitState = "closed" | "open" | "probing";

export interface CircuitReport {
  gatewayCode: string;
  method: string;
  state: CircuitState;
  /** `calls` within the window, and `failures` among them. */
  calls: number;
  failures: number;
}

/** Allows one call; to be passed to `record` with the outcome. */
export interface Permit {
  begunAt: Micros;
  /** Whether this call is the probe that decides if the circuit closes. */
  probe: boolean;
}

/** Opens when half of the latest calls failed. After a rest one call probes: success closes the circuit, failure makes the rest longer. */
export class Circuit {
  private outcomes: { at: Micros; ok: boolean }[] = [];
  private restUntil: Micros | undefined;
  private rest: Micros = REST_FIRST;
  private probing = false;
  /** When a probe closed the circuit last. */
  private closedAt: Micros = 0;

  state(now: Micros): CircuitState {
    if (this.restUntil === undefined) return "closed";
    return now >= this.restUntil ? "probing" : "open";
  }

  /** Whether a call may begin now. */
  admits(now: Micros): boolean {
    return this.restUntil === undefined || (now >= this.restUntil && !this.probing);
  }

  /** A permit for a call; undefined while the circuit is open, or another call probes. */
  begin(now: Micros): Permit | undefined {
    if (!this.admits(now)) return undefined;
    this.probing = this.restUntil !== undefined;
    return { begunAt: now, probe: this.probing };
  }

  /**
   * Records the outcome of a call. While the circuit is open, only the outcome of the probe changes its state. Once it has closed, calls that began
   * before say nothing of the acquirer as it is now: they time out together, and would open it again.
   */
  record({ begunAt, probe }: Permit, ok: boolean, now: Micros): void {
    if (probe) {
      this.probing = false;
      if (ok) {
        this.restUntil = undefined;
        this.rest = REST_FIRST;
        this.outcomes = [];
        this.closedAt = now;
      } else {
        this.rest = Math.min(this.rest * 2, REST_MAX);
        this.restUntil = now + this.rest;
      }
      return;
    }
    if (begunAt < this.closedAt) return;
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

export class Circuits {
  private readonly circuits = new Map<string, Circuit>();

  /** The circuits that admit no call now, as `<gateway_code>/<method>`: open, or waiting for their probe to end. */
  open(now: Micros): ReadonlySet<string> {
    return new Set([...this.circuits].filter(([, circuit]) => !circuit.admits(now)).map(([name]) => name));
  }

  of(gatewayCode: string, method: string): Circuit {
    return this.circuits.getOrInsertComputed(`${gatewayCode}/${method}`, () => new Circuit());
  }

  report(now: Micros): CircuitReport[] {
    return [...this.circuits].map(([name, circuit]) => {
      const [gatewayCode = "", method = ""] = name.split("/");
      return { gatewayCode, method, state: circuit.state(now), ...circuit.count(now) };
    });
  }
}
