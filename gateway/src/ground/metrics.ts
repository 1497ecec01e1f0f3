// The meters that several rooms write and `/metrics` shows.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import { version } from "./version.ts";

/** State of a process, besides its requests and commands. */
export interface ProcessFacts {
  draining: boolean;
  connections: { busy: number; idle: number };
  /** Callers that wait for a database connection. */
  waiting: number;
  listeners: { stream: number; poll: number };
}

export interface Metrics {
  registry: Registry;
  /** Counts an answered request, and its duration when known. */
  answered(method: string, route: string, status: number, seconds?: number): void;
  laneBatchSize: Histogram<"lane">;
  laneWaitSeconds: Histogram<"lane">;
  laneCommits: Counter<"lane" | "result">;
  laneCommitSeconds: Histogram<"lane">;
  laneQueue: Gauge<"lane">;
  deliveries: Counter<"result">;
  deliveryLagSeconds: Histogram;
  deliveryOldestDueSeconds: Gauge;
  requestLog: Counter<"result">;
  operatorAuthenticationFailures: Counter<"reason">;
  acquirerCalls: Counter<"gateway_code" | "payment_method" | "call" | "outcome">;
  acquirerSeconds: Histogram<"gateway_code" | "payment_method" | "call">;
  acquirerInFlight: Gauge<"gateway_code">;
  /** Registers a function that is called whenever the meters are read: requests and bytes in flight, and connections cut. */
  inFlight(read: () => { requests: number; bytes: number; cut: number }): void;
  /** The same for the clock's lead over the database's, and the number of quarantined books. */
  state(read: () => { skewMs: number; quarantined: number }): void;
  /** The same for the state of the process. */
  process(read: () => ProcessFacts): void;
  rollUpAgeSeconds: Gauge;
  roundsFailed: Counter<"loop">;
  logLinesLost: Counter;
  /** The same for the circuit breakers of acquirers that were called, by acquirer and method. */
  circuits(read: () => readonly { gatewayCode: string; method: string; state: string }[]): void;
  /** The same for the number of webhook hosts that were called lately, by host health. */
  hosts(read: () => Readonly<Record<string, number>>): void;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
  const gauge = (name: string, help: string, read: () => number): void => {
    const meter = new Gauge({
      name,
      help,
      registers: [],
      collect() {
        this.set(read());
      },
    });
    registry.registerMetric(meter);
  };
  const gaugeOfEach = (
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
  new Gauge({
    name: "gerbang_build_info",
    help: "Always 1; what runs stands in the labels.",
    labelNames: ["version", "node"],
    registers,
  }).set({ version, node: process.version }, 1);
  const requests = new Counter({
    name: "gerbang_http_requests_total",
    help: "Requests answered.",
    labelNames: ["method", "route", "status"],
    registers,
  });
  const requestSeconds = new Histogram({
    name: "gerbang_http_request_seconds",
    help: "Time from first byte to answer.",
    labelNames: ["route"],
    buckets: seconds,
    registers,
  });
  const metersOf = (method: string, route: string, status: number) => ({
    count: requests.labels({ method, route, status }),
    took: requestSeconds.labels({ route }),
  });
  const answers = new Map<string, ReturnType<typeof metersOf>>();
  return {
    registry,
    inFlight(read) {
      gauge("gerbang_http_requests_in_flight", "Requests taken in and not done with.", () => read().requests);
      gauge("gerbang_http_body_bytes_in_flight", "Bytes of their bodies that are held.", () => read().bytes);
      gauge("gerbang_http_cut_connections", "Connections cut since the start, to make room.", () => read().cut);
    },
    state(read) {
      gauge(
        "gerbang_clock_skew_seconds",
        "How far the clock is ahead of the database's; negative when it is behind.",
        () => read().skewMs / 1_000,
      );
      gauge(
        "gerbang_quarantined_books",
        "Books that are refused since an impossible state was met in them.",
        () => read().quarantined,
      );
    },
    process(read) {
      gauge("gerbang_draining", "1 from the signal to stop on, else 0.", () => (read().draining ? 1 : 0));
      gauge("gerbang_database_waiting", "Statements and batches that wait for a connection.", () => read().waiting);
      gaugeOfEach("gerbang_database_connections", "Connections to PostgreSQL by state: busy, idle.", ["state"], () =>
        Object.entries(read().connections).map(([state, count]) => [{ state }, count]),
      );
      gaugeOfEach(
        "gerbang_listeners",
        "Open waits for events by kind: stream (of pages), poll (of gerbang listen).",
        ["kind"],
        () => Object.entries(read().listeners).map(([kind, count]) => [{ kind }, count]),
      );
    },
    circuits(read) {
      gaugeOfEach(
        "gerbang_acquirer_circuit_open",
        "1 while an acquirer is left alone for a method after failures, or probed; 0 while it is called.",
        ["gateway_code", "payment_method"],
        () =>
          read().map(({ gatewayCode, method, state }) => [
            { gateway_code: gatewayCode, payment_method: method },
            state === "closed" ? 0 : 1,
          ]),
      );
    },
    hosts(read) {
      gaugeOfEach(
        "gerbang_webhook_hosts",
        "Hosts that webhooks were sent to lately, by health: healthy, slow, unknown (not called yet), failing (did not answer in time).",
        ["health"],
        () => Object.entries(read()).map(([health, count]) => [{ health }, count]),
      );
    },
    answered(method, route, status, took) {
      // Meters are cached by one text: looking up labels for each request would cost more than counting it.
      const name = `${method} ${status} ${route}`;
      let meters = answers.get(name);
      if (!meters) answers.set(name, (meters = metersOf(method, route, status)));
      meters.count.inc();
      if (took !== undefined) meters.took.observe(took);
    },
    laneBatchSize: new Histogram({
      name: "gerbang_lane_batch_size",
      help: "Commands committed together.",
      labelNames: ["lane"],
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
      registers,
    }),
    laneWaitSeconds: new Histogram({
      name: "gerbang_lane_wait_seconds",
      help: "Time a command waited for its batch to begin.",
      labelNames: ["lane"],
      buckets: seconds,
      registers,
    }),
    laneCommits: new Counter({
      name: "gerbang_lane_commits_total",
      help: "Transactions of the lanes by result.",
      labelNames: ["lane", "result"],
      registers,
    }),
    laneCommitSeconds: new Histogram({
      name: "gerbang_lane_commit_seconds",
      help: "Time from the first write of a transaction of the lanes to its end.",
      labelNames: ["lane"],
      buckets: seconds,
      registers,
    }),
    laneQueue: new Gauge({
      name: "gerbang_lane_queue",
      help: "Commands waiting in the lane.",
      labelNames: ["lane"],
      registers,
    }),
    rollUpAgeSeconds: new Gauge({
      name: "gerbang_roll_up_age_seconds",
      help: "Time since the roll-up of the portal's figures last moved: up to 5 at rest. Of processes that work.",
      registers,
    }),
    roundsFailed: new Counter({
      name: "gerbang_worker_rounds_failed_total",
      help: "Rounds of the worker's loops that failed and are tried again.",
      labelNames: ["loop"],
      registers,
    }),
    logLinesLost: new Counter({
      name: "gerbang_log_lines_lost_total",
      help: "Lines of the log that were lost because they were read more slowly than written.",
      registers,
    }),
    requestLog: new Counter({
      name: "gerbang_request_log_total",
      help: "Requests for the log by result: written, dropped (there was no room, or the database did not take them).",
      labelNames: ["result"],
      registers,
    }),
    operatorAuthenticationFailures: new Counter({
      name: "gerbang_operator_authentication_failures_total",
      help: "Calls of the operator's API without a good token by reason: missing, wrong, ended (revoked, replaced or expired).",
      labelNames: ["reason"],
      registers,
    }),
    acquirerCalls: new Counter({
      name: "gerbang_acquirer_calls_total",
      help: "Calls to acquirers by outcome: answered, refused (certainly not done), unknown (asked about later).",
      labelNames: ["gateway_code", "payment_method", "call", "outcome"],
      registers,
    }),
    acquirerSeconds: new Histogram({
      name: "gerbang_acquirer_call_seconds",
      help: "Time an acquirer took to answer.",
      labelNames: ["gateway_code", "payment_method", "call"],
      buckets: seconds,
      registers,
    }),
    acquirerInFlight: new Gauge({
      name: "gerbang_acquirer_calls_in_flight",
      help: "Calls to acquirers that have no answer yet.",
      labelNames: ["gateway_code"],
      registers,
    }),
    deliveries: new Counter({
      name: "gerbang_webhook_attempts_total",
      help: "Webhook attempts by result.",
      labelNames: ["result"],
      registers,
    }),
    deliveryLagSeconds: new Histogram({
      name: "gerbang_webhook_first_attempt_lag_seconds",
      help: "Time from the event to the start of its first attempt.",
      buckets: seconds,
      registers,
    }),
    deliveryOldestDueSeconds: new Gauge({
      name: "gerbang_webhook_oldest_due_seconds",
      help: "Age of the oldest delivery that is due and not yet sent.",
      registers,
    }),
  };
}
