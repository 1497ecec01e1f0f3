// The listener of `/metrics`: it answers what this process measures, on an address of its own.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Config } from "../ground/config.ts";
import type { Log } from "../ground/log.ts";
import type { Metrics } from "../ground/metrics.ts";
import { boundConnections, boundPipelines } from "../http/connections.ts";
import { LOAD_LIMITS, LoadShedding } from "../http/load-shedding.ts";
import type { Announcer } from "./announcer.ts";

const CONNECTIONS_PER_ADDRESS = 64;
/** How long a text answers further requests. Making one takes milliseconds, in which the process answers nobody. */
const KEEP_MS = 250;

/** Serves `/metrics` on an address of its own, so that it is never open where the API is. */
export async function serveMetrics(
  app: { metrics: Pick<Metrics, "registry"> },
  config: Pick<Config, "port" | "metrics">,
  announce: Pick<Announcer, "metricsOff">,
  log: Log,
): Promise<{ address: string; close(): void } | undefined> {
  const { registry } = app.metrics;
  let reading: Promise<string> | undefined;
  const server = createServer((request, response) => {
    if (request.url !== "/metrics") return void response.writeHead(404).end();
    reading ??= registry.metrics().finally(() => setTimeout(() => (reading = undefined), KEEP_MS).unref());
    reading.then(
      (text) => response.writeHead(200, { "content-type": registry.contentType }).end(text),
      (error: unknown) => {
        log.error({ err: error }, "the metrics could not be read");
        response.writeHead(500).end();
      },
    );
  });
  const load = new LoadShedding(LOAD_LIMITS);
  boundPipelines(server, load);
  boundConnections(server, load, CONNECTIONS_PER_ADDRESS);
  const port = config.metrics.port ?? (config.port === 0 ? 0 : config.port + 1);
  server.listen(port, config.metrics.host);
  try {
    await once(server, "listening");
  } catch (error) {
    if (config.metrics.port !== undefined) throw error;
    announce.metricsOff(error);
    return undefined;
  }
  const { port: used } = server.address() as AddressInfo;
  return { address: `http://${config.metrics.host}:${used}/metrics`, close: () => void server.close() };
}
