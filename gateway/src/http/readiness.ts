// Whether this process may be sent requests, and why not. Whoever routes to it asks /readyz; a stop begins here.

/** Why a process should be sent nothing. */
export type Unready = "starting" | "draining" | "database" | "clock";

export interface ReadinessParts {
  /** False when the database has not answered lately. */
  hears(): boolean;
  /** False while the process must take no requests because its clock is wrong. */
  mayServe(): boolean;
}

export class Readiness {
  private readonly parts: ReadinessParts;
  private opened = false;
  /** True from the beginning of a stop: every answer from now on tells its client to leave. */
  leaving = false;

  constructor(parts: ReadinessParts) {
    this.parts = parts;
  }

  /** The start is over: settings are loaded, the schema is the program's own. */
  open(): void {
    this.opened = true;
  }

  leave(): void {
    this.leaving = true;
  }

  /** None: it may be sent requests. */
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

/** Whether a target is a probe's. */
export function isProbe(url: string): boolean {
  return /^\/(?:livez|readyz)(?:\?|$)/.test(url);
}
