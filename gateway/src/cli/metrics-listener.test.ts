// Goal: metrics that cannot be read or served are told of, and end nothing else. Method: the listener on a port of its own, with a registry that fails.
import { expect, test } from "vitest";
import { createLog } from "../ground/log.ts";
import { createMetrics } from "../ground/metrics.ts";
import { serveMetrics } from "./metrics-listener.ts";

const config = { port: 0, metrics: { host: "127.0.0.1", port: undefined } };

test("metrics that cannot be read are answered with 500 and a line of the log; the next request is answered", async () => {
  const lines: string[] = [];
  const log = createLog("info", { write: (line) => void lines.push(line) });
  const metrics = createMetrics();
  const { registry } = metrics;
  const read = registry.metrics.bind(registry);
  registry.metrics = () => Promise.reject(new Error("a gauge threw"));
  const listener = await serveMetrics({ metrics }, config, { metricsOff: () => undefined }, log);
  const ask = async (): Promise<number> => (await fetch(listener?.address ?? "")).status;
  expect(await ask()).toBe(500);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: "error", msg: "the metrics could not be read", err: { message: "a gauge threw" } },
  ]);
  registry.metrics = read;
  expect(await ask()).toBe(200);
  listener?.close();
});
