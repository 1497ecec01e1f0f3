// Tells whether this process may be sent requests, and why not: the state behind /readyz. `leave` begins a stop.

/** Reasons why a process should be sent no requests. */
export type Unready = "starting" | "draining" | "database" | "clock";

interface ReadinessParts {
  /** False when the database has not answered lately. */
  hears(): boolean;
  /** False while the process must take no requests because its clock is wrong. */
  mayServe(): boolean;
}

export class Readiness {
  private readonly parts: ReadinessParts;
  private opened = false;
  /** True from the beginning of a stop: every answer from then on closes its connection. */
  leaving = false;

  constructor(parts: ReadinessParts) {
    this.parts = parts;
  }

  /** Notes that the start is over: settings are loaded, and the schema fits the program. */
  open(): void {
    this.opened = true;
  }

  leave(): void {
    this.leaving = true;
  }

  /** Gives the reasons against sending requests; empty when the process is ready. */
  reasons(): Unready[] {
    const reasons: [Unready, boolean][] = [
      ["starting", !this.opened],
      ["draining", this.leaving],
      ["database", !this.parts.hears()],
      ["clock", !this.parts.mayServe()],
    ];
    return reasons.filter(([, holds]) => holds).map(([reason]) => reason);
  }
}

/** True for the targets /livez and /readyz. */
export function isProbe(url: string): boolean {
  return /^\/(?:livez|readyz)(?:\?|$)/.test(url);
}
