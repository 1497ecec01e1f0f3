// The listener of `/metrics`: it answers what this process measures, on an address of its own.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Config } from "../ground/config.ts";
import type { Log } from "../ground/log.ts";
import type { Metrics } from "../ground/metrics.ts";
import type { Announcer } from "./announcer.ts";

/** Serves `/metrics` on an address of its own, so that it is never open where the API is. */
export async function serveMetrics(
  app: { metrics: Pick<Metrics, "registry"> },
  config: Pick<Config, "port" | "metrics">,
  announce: Pick<Announcer, "metricsOff">,
  log: Log,
): Promise<{ address: string; close(): void } | undefined> {
  const { registry } = app.metrics;
  const server = createServer((request, response) => {
    if (request.url !== "/metrics") {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { "content-type": registry.contentType }).end(text),
      (error: unknown) => {
        log.error({ err: error }, "the metrics could not be read");
        response.writeHead(500).end();
      },
    );
  });
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
