// Reads the meters of this process: those that /metrics shows too, and measurements of the Node runtime.
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { MetricValue, MetricValueWithName, Registry } from "prom-client";
import type { Micros } from "../ground/clock.ts";
import { type AcquirerSample, type Buckets, type Reading, nameOfMethod } from "./sample.ts";

/** Interval of the timer whose delay measures the event loop's lag. */
const LOOP_MS = 50;
const MIB = 2 ** 20;

/** Routes that are not measured: health probes, which monitoring calls all the time, and streams, which stay open as long as a page listens. */
const unmeasured = /^(\/livez|\/readyz|\/v1\/health|\/metrics|unknown)$|\/stream$|\/listen$/;

type Values = readonly MetricValue<string>[];

export class Meters {
  private readonly registry: Registry;
  private readonly loop = monitorEventLoopDelay({ resolution: LOOP_MS });

  constructor(registry: Registry) {
    this.registry = registry;
  }

  start(): void {
    this.loop.enable();
  }

  stop(): void {
    this.loop.disable();
  }

  /** Reads all meters. `at`: the current time of the clock that defines the spans. */
  async read(at: Micros): Promise<Reading> {
    const requests = (await this.values("gerbang_http_requests_total")).filter(
      ({ labels }) => !unmeasured.test(String(labels.route)),
    );
    const answeredBy = (kind: string): Values => requests.filter(({ labels }) => String(labels.status)[0] === kind);
    const commits = await this.values("gerbang_lane_commits_total");
    const batches = await this.values("gerbang_lane_batch_size");
    const attempts = await this.values("gerbang_webhook_attempts_total");
    const calls = await this.values("gerbang_acquirer_calls_total");
    const connections = await this.values("gerbang_database_connections");
    const { user, system } = process.cpuUsage();
    return {
      takenAtMs: at / 1_000,
      counts: {
        requests: sum(requests),
        requests_rejected: sum(answeredBy("4")),
        requests_failed: sum(answeredBy("5")),
        payments: sum(
          requests.filter(
            ({ labels: { method, route, status } }) =>
              method === "POST" && String(route).endsWith("/v1/payments") && String(status) === "201",
          ),
        ),
        lane_commands: sum(named(batches, "gerbang_lane_batch_size_sum")),
        lane_batches: sum(named(batches, "gerbang_lane_batch_size_count")),
        lane_batches_failed: sum(commits.filter(({ labels }) => labels.result !== "committed")),
        attempts: sum(attempts),
        attempts_failed: sum(attempts.filter(({ labels }) => labels.result !== "delivered")),
        acquirer_calls: sum(calls),
        acquirer_calls_failed: sum(calls.filter(({ labels }) => labels.outcome !== "answered")),
        cpu_ms: (user + system) / 1_000,
      },
      levels: {
        lane_queue: sum(await this.values("gerbang_lane_queue")),
        acquirer_in_flight: sum(await this.values("gerbang_acquirer_calls_in_flight")),
        connections_busy: sum(connections.filter(({ labels }) => labels.state === "busy")),
        connections_waiting: sum(await this.values("gerbang_database_waiting")),
        memory_mib: process.memoryUsage.rss() / MIB,
      },
      peaks: {
        delivery_oldest_seconds: sum(await this.values("gerbang_webhook_oldest_due_seconds")),
        clock_skew_ms: Math.abs(sum(await this.values("gerbang_clock_skew_seconds"))) * 1_000,
        loop_lag_ms: this.loopLag(),
        roll_up_age_seconds: sum(await this.values("gerbang_roll_up_age_seconds")),
      },
      seconds: {
        request_p95_ms: bucketsOf(
          await this.values("gerbang_http_request_seconds"),
          ({ route }) => String(route).startsWith("/v1/") && !unmeasured.test(String(route)),
        ),
        commit_p95_ms: bucketsOf(await this.values("gerbang_lane_commit_seconds")),
        delivery_lag_p95_ms: bucketsOf(await this.values("gerbang_webhook_first_attempt_lag_seconds")),
      },
      acquirers: acquirersOf(calls, await this.values("gerbang_acquirer_call_seconds")),
    };
  }

  /** 99th percentile of the event loop's delay since the last call, in milliseconds. */
  private loopLag(): number {
    const lateMs = this.loop.count === 0 ? 0 : this.loop.percentile(99) / 1e6 - LOOP_MS;
    this.loop.reset();
    return Math.max(0, lateMs);
  }

  private async values(name: string): Promise<Values> {
    const meter = this.registry.getSingleMetric(name);
    if (!meter) throw new Error(`there is no meter ${name}`);
    return (await meter.get()).values;
  }
}

/** The sum. What could not be measured is NaN, and counts as 0. */
function sum(values: Values): number {
  return values.reduce((total, { value }) => total + (value || 0), 0);
}

/** The values of one series of a histogram. */
function named(values: Values, name: string): Values {
  return values.filter((value) => (value as MetricValueWithName<string>).metricName === name);
}

function bucketsOf(values: Values, counts: (labels: MetricValue<string>["labels"]) => boolean = () => true): Buckets {
  const buckets = new Map<number, number>();
  for (const { labels, value } of values) {
    if (labels.le === undefined || !counts(labels)) continue;
    const bound = labels.le === "+Inf" ? Infinity : Number(labels.le);
    buckets.set(bound, (buckets.get(bound) ?? 0) + value);
  }
  return buckets;
}

function acquirersOf(calls: Values, seconds: Values): Reading["acquirers"] {
  const acquirers = new Map<string, Omit<AcquirerSample, "is_open">>();
  const of = (labels: MetricValue<string>["labels"]) => {
    const one = { gateway_code: String(labels.gateway_code), method: String(labels.payment_method) };
    return acquirers.getOrInsert(nameOfMethod(one), { ...one, calls: 0, refused: 0, unknown: 0, call_ms: 0 });
  };
  for (const { labels, value } of calls) {
    const own = of(labels);
    own.calls += value;
    if (labels.outcome === "refused") own.refused += value;
    if (labels.outcome === "unknown") own.unknown += value;
  }
  for (const { labels, value } of named(seconds, "gerbang_acquirer_call_seconds_sum"))
    of(labels).call_ms += value * 1_000;
  return acquirers;
}
