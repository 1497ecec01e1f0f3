// The meters that several rooms write and `/metrics` shows.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import { version } from "./version.ts";

/** State of a process, besides its requests and commands. */
interface ProcessFacts {
  /** Whether /readyz answers 200. */
  ready: boolean;
  draining: boolean;
  /** Database connections by state, and callers that wait for one, of each pool. */
  pools: Record<"main" | "portal" | "operators", { busy: number; idle: number; waiting: number }>;
  listeners: { stream: number; poll: number };
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export type Metrics = ReturnType<typeof createMetrics>;

/** Makes the meters. Functions that take `read` call it whenever the meters are read. */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Gauge({ name, help, labelNames, registers });
  /** A gauge that is absent until it is set: only workers set it. It is NaN while it cannot be measured. */
  const workerGauge = (name: string, help: string) => {
    const meter = gauge(name, help);
    meter.remove();
    return meter;
  };
  const histogram = <Label extends string>(
    name: string,
    help: string,
    labelNames: Label[] = [],
    buckets: number[] = SECONDS,
  ) => new Histogram({ name, help, labelNames, buckets, registers });
  const readGauges = (
    name: string,
    help: string,
    labelNames: string[],
    read: () => [labels: Record<string, string>, value: number][],
  ): void => {
    const meter = new Gauge({
      name,
      help,
      labelNames,
      registers: [],
      collect() {
        this.reset();
        for (const [labels, value] of read()) this.set(labels, value);
      },
    });
    registry.registerMetric(meter);
  };
  const readGauge = (name: string, help: string, value: () => number): void =>
    readGauges(name, help, [], () => [[{}, value()]]);
  gauge("gerbang_build_info", "Always 1; the labels say what runs.", ["version", "node"]).set(
    { version, node: process.version },
    1,
  );
  const requests = counter("gerbang_http_requests_total", "Requests answered.", ["method", "route", "status"]);
  const requestSeconds = histogram("gerbang_http_request_seconds", "Time from first byte to answer.", ["route"]);
  const metersOf = (method: string, route: string, status: number) => ({
    count: requests.labels({ method, route, status }),
    took: requestSeconds.labels({ route }),
  });
  const answers = new Map<string, ReturnType<typeof metersOf>>();
  return {
    registry,
    /** Requests and bytes in flight, and connections cut. */
    inFlight(read: () => { requests: number; bytes: number; cut: number }): void {
      readGauge("gerbang_http_requests_in_flight", "Requests received and not yet finished.", () => read().requests);
      readGauge("gerbang_http_body_bytes_in_flight", "Bytes of request bodies that are held.", () => read().bytes);
      readGauge("gerbang_http_cut_connections", "Connections cut since the start, to make room.", () => read().cut);
    },
    /** The clock's lead over the database's, and the number of quarantined books. */
    state(read: () => { skewMs: number; quarantined: number }): void {
      readGauge(
        "gerbang_clock_skew_seconds",
        "How far the clock is ahead of the database's; negative when it is behind.",
        () => read().skewMs / 1_000,
      );
      readGauge(
        "gerbang_quarantined_books",
        "Books whose writes are refused since an impossible state was met in them.",
        () => read().quarantined,
      );
    },
    process(read: () => ProcessFacts): void {
      readGauge("gerbang_ready", "1 while /readyz answers 200, else 0.", () => (read().ready ? 1 : 0));
      readGauge("gerbang_draining", "1 from the signal to stop on, else 0.", () => (read().draining ? 1 : 0));
      const pools = () => Object.entries(read().pools);
      readGauges("gerbang_database_waiting", "Statements and batches that wait for a connection.", ["pool"], () =>
        pools().map(([pool, { waiting }]) => [{ pool }, waiting]),
      );
      readGauges(
        "gerbang_database_connections",
        "Connections to PostgreSQL by pool (main, portal, operators) and state: busy, idle.",
        ["pool", "state"],
        () =>
          pools().flatMap(([pool, { busy, idle }]) => [
            [{ pool, state: "busy" }, busy],
            [{ pool, state: "idle" }, idle],
          ]),
      );
      readGauges(
        "gerbang_listeners",
        "Open waits for events by kind: stream (of pages), poll (of gerbang listen).",
        ["kind"],
        () => Object.entries(read().listeners).map(([kind, count]) => [{ kind }, count]),
      );
    },
    /** The circuit breakers of acquirers that were called, by acquirer and method. */
    circuits(read: () => readonly { gatewayCode: string; method: string; state: string }[]): void {
      readGauges(
        "gerbang_acquirer_circuit_open",
        "1 while an acquirer is not called for a method after failures, or is probed; 0 while it is called.",
        ["gateway_code", "payment_method"],
        () =>
          read().map(({ gatewayCode, method, state }) => [
            { gateway_code: gatewayCode, payment_method: method },
            state === "closed" ? 0 : 1,
          ]),
      );
    },
    /** The number of webhook hosts that were called lately, by host health. */
    hosts(read: () => Readonly<Record<string, number>>): void {
      readGauges(
        "gerbang_webhook_hosts",
        "Hosts that webhooks were sent to lately, by health: healthy, slow, unknown (not called yet), failing (did not answer in time).",
        ["health"],
        () => Object.entries(read()).map(([health, count]) => [{ health }, count]),
      );
    },
    /** Counts an answered request, and its duration in seconds when known. */
    answered(method: string, route: string, status: number, took?: number): void {
      // Meters are cached by one text: looking up labels for each request would cost more than counting it.
      const name = `${method} ${status} ${route}`;
      const meters = answers.getOrInsertComputed(name, () => metersOf(method, route, status));
      meters.count.inc();
      if (took !== undefined) meters.took.observe(took);
    },
    laneBatchSize: histogram(
      "gerbang_lane_batch_size",
      "Commands committed together.",
      ["lane"],
      [1, 2, 4, 8, 16, 32, 64, 128, 256],
    ),
    laneWaitSeconds: histogram("gerbang_lane_wait_seconds", "Time a command waited for its batch to begin.", ["lane"]),
    laneCommits: counter("gerbang_lane_commits_total", "Transactions of the lanes by result.", ["lane", "result"]),
    laneCommitSeconds: histogram(
      "gerbang_lane_commit_seconds",
      "Time from the first write of a transaction of the lanes to its end.",
      ["lane"],
    ),
    laneQueue: gauge("gerbang_lane_queue", "Commands waiting in the lane.", ["lane"]),
    rollUpAgeSeconds: workerGauge(
      "gerbang_roll_up_age_seconds",
      "Time since the roll-up of the portal's figures last moved: up to 5 at rest. Of workers; NaN while it cannot be measured.",
    ),
    roundsFailed: counter(
      "gerbang_worker_rounds_failed_total",
      "Rounds of the worker's loops that failed and are tried again.",
      ["loop"],
    ),
    logLinesLost: counter(
      "gerbang_log_lines_lost_total",
      "Lines of the log that were lost because they were read more slowly than written.",
    ),
    requestLog: counter(
      "gerbang_request_log_total",
      "Requests for the log by result: written, dropped (there was no room, or the database did not take them).",
      ["result"],
    ),
    operatorAuthenticationFailures: counter(
      "gerbang_operator_authentication_failures_total",
      "Calls of the operator's API without a good token by reason: missing, wrong, ended (revoked, replaced or expired).",
      ["reason"],
    ),
    acquirerCalls: counter(
      "gerbang_acquirer_calls_total",
      "Calls to acquirers by outcome: answered, refused (certainly not done), unknown (asked about later).",
      ["gateway_code", "payment_method", "call", "outcome"],
    ),
    acquirerStrays: counter(
      "gerbang_acquirer_stray_messages_total",
      "Messages that proved to come from an acquirer and could not be taken, by reason. Repetitions count.",
      ["gateway_code", "reason"],
    ),
    acquirerSeconds: histogram("gerbang_acquirer_call_seconds", "Time an acquirer took to answer.", [
      "gateway_code",
      "payment_method",
      "call",
    ]),
    acquirerInFlight: gauge("gerbang_acquirer_calls_in_flight", "Calls to acquirers that have no answer yet.", [
      "gateway_code",
    ]),
    deliveries: counter("gerbang_webhook_attempts_total", "Webhook attempts by result.", ["result"]),
    deliveryLagSeconds: histogram(
      "gerbang_webhook_first_attempt_lag_seconds",
      "Time from the event to the start of its first attempt.",
    ),
    deliveryOldestDueSeconds: workerGauge(
      "gerbang_webhook_oldest_due_seconds",
      "Age of the oldest delivery that is due and not yet sent. Of workers; NaN while it cannot be measured.",
    ),
    waiting: gauge(
      "gerbang_waiting_items",
      "Items that wait for a person in production by kind, as the operators' API reports them; counted to 100.",
      ["kind"],
    ),
    waitingOldestSeconds: gauge(
      "gerbang_waiting_oldest_seconds",
      "How long the oldest item that waits for a person in production has waited, by kind.",
      ["kind"],
    ),
  };
}
