// Delivers the simulated acquirer's callbacks: signed, repeated with growing delays, and given up in the end.
import type { Agent } from "undici";
import { exchange, newAgent } from "../../acquirers/remote-http.ts";
import { signedHeaders } from "../../acquirers/remote-protocol.ts";
import type { Clock } from "../../ground/clock.ts";
import type { SigningKey } from "../../ground/signing-key.ts";
import type { Operation, Report } from "./operation.ts";

const DEADLINE_MS = 5_000;
const CONNECTIONS = 16;
/** Delay after each failure; after the last one the callback is given up. */
const DELAYS_MS = [500, 2_000, 10_000, 30_000, 120_000, 600_000];

interface ReporterParts {
  key: SigningKey;
  clock: Clock;
  /** Stores the state of an operation's callbacks. */
  keep: (operation: Operation) => void;
  /** Resolves when the reported change would survive a kill: nothing is delivered before. */
  durable: () => Promise<void>;
  log: (line: string) => void;
}

export class Reporter {
  private readonly parts: ReporterParts;
  private readonly agent: Agent = newAgent(CONNECTIONS, DEADLINE_MS);
  private readonly timers = new Set<NodeJS.Timeout>();
  private readonly stopping = new AbortController();

  constructor(parts: ReporterParts) {
    this.parts = parts;
  }

  /** Delivers the callback when it is due, `remaining` times. */
  plan(operation: Operation, report: Report): void {
    if (this.stopping.signal.aborted) return;
    const wait = Math.max(0, Math.ceil((report.due - this.parts.clock.now()) / 1000));
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      void this.deliver(operation, report);
    }, wait);
    this.timers.add(timer);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    for (const timer of this.timers) clearTimeout(timer);
    await this.agent.destroy();
  }

  private async deliver(operation: Operation, report: Report): Promise<void> {
    const outcome = await this.send(report);
    if (this.stopping.signal.aborted) return;
    const { clock, keep, log } = this.parts;
    log(`callback ${operation.kind} ${operation.operation_key} to ${report.url}: ${outcome}`);
    if (/^2\d\d$/.test(outcome)) {
      report.remaining--;
      report.failures = 0;
      report.due = clock.now();
    } else {
      report.failures++;
      const delay = DELAYS_MS[report.failures - 1];
      if (delay === undefined) report.remaining = 0;
      else report.due = clock.now() + delay * 1000;
    }
    if (report.remaining === 0) operation.reports = operation.reports.filter((other) => other !== report);
    keep(operation);
    if (report.remaining > 0) this.plan(operation, report);
  }

  /** Returns the HTTP status of the response, or the reason of the failure. Never throws. */
  private async send({ url, body }: Report): Promise<string> {
    const { key, clock, durable } = this.parts;
    try {
      await durable();
      const { origin, pathname, search } = new URL(url);
      const path = pathname + search;
      const headers = {
        ...signedHeaders(key, clock.now(), "POST", path, body),
        "content-type": "application/json; charset=utf-8",
      };
      const request = { origin, path, method: "POST", headers, body } as const;
      const { status } = await exchange(this.agent, request, DEADLINE_MS, this.stopping.signal);
      return String(status);
    } catch (error) {
      return (error as Error).message;
    }
  }
}
