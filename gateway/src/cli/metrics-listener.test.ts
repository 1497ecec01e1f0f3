// Goal: metrics that cannot be read or served are told of, and end nothing else. Method: the listener on a port of its own, with a registry that fails.
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { expect, test, vi } from "vitest";
import { readConfig } from "../ground/config.ts";
import { createLog } from "../ground/log.ts";
import { createMetrics } from "../ground/metrics.ts";
import { announcer } from "./announcer.ts";
import { serveMetrics } from "./metrics-listener.ts";

const config = { port: 0, metrics: { host: "127.0.0.1", port: undefined } };

test("metrics that cannot be read are answered with 500 and a line of the log; later requests are answered", async () => {
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
  await expect.poll(ask).toBe(200);
  listener?.close();
});

test("who asks for the metrics a thousand times at once has them made once, and is cut", async () => {
  const metrics = createMetrics();
  const made = vi.spyOn(metrics.registry, "metrics");
  const listener = await serveMetrics({ metrics }, config, { metricsOff: () => undefined }, createLog("silent"));
  const socket = connect(Number(new URL(listener?.address ?? "").port), "127.0.0.1");
  socket.on("error", () => undefined).resume();
  socket.write("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1_000));
  await once(socket, "close");
  expect(made).toHaveBeenCalledTimes(1);
  listener?.close();
});

/** Lines of the log of a service whose metrics cannot listen on the port after `port`. */
async function saidAbout(host: string, port: number): Promise<unknown[]> {
  const lines: string[] = [];
  const log = createLog("info", { write: (line) => void lines.push(line) });
  const own = { port, metrics: { host, port: undefined } };
  const listener = await serveMetrics({ metrics: createMetrics() }, own, announcer(readConfig({}), log, false), log);
  expect(listener).toBeUndefined();
  return lines.map((line) => JSON.parse(line));
}

test("a port that was not chosen turns the metrics off, and the reason is told", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  expect(await saidAbout("127.0.0.1", port - 1)).toMatchObject([
    { level: "warn", msg: "metrics are off", reason: expect.stringMatching(`Port ${port} of 127.0.0.1 is taken`) },
  ]);
  taken.close();
  // An address that is reserved for documents.
  expect(await saidAbout("192.0.2.1", 8_080)).toMatchObject([
    { level: "warn", msg: "metrics are off", reason: expect.stringMatching("This machine has no address 192.0.2.1") },
  ]);
});
