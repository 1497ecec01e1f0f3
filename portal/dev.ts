// `npm run portal`: the pages with hot reload, in front of a service that already runs. `npm run portal -- --service http://127.0.0.1:9000`.
import { parseArgs } from "node:util";
import { createServer } from "vite";

const { values } = parseArgs({
  options: {
    service: { type: "string", default: "http://127.0.0.1:8080" },
    port: { type: "string", default: "5173" },
  },
});
const service = new URL(values.service).origin;
const say = (text: string): void => void process.stderr.write(`${text}\n`);

/** Nothing answers at the service's address. */
async function isDown(): Promise<boolean> {
  return fetch(`${service}/v1/health`).then(
    () => false,
    () => true,
  );
}

if (await isDown()) say(`No service answers at ${service} yet: start one with npm start. The pages wait for it.`);
const server = await createServer({
  root: import.meta.dirname,
  configFile: `${import.meta.dirname}/vite.config.ts`,
  server: {
    port: Number(values.port),
    // By the name under which browsers make passkeys.
    host: "localhost",
    proxy: {
      // The service sees the browser's own Host, Origin and Sec-Fetch-Site, so its check of them holds here as everywhere: a page of another
      // site that posts to this port is refused by the service itself.
      "/portal/v1": { target: service, changeOrigin: false, xfwd: false },
      "/v1": { target: service, changeOrigin: false },
      "/pay": { target: service, changeOrigin: false },
    },
  },
});
await server.listen();
const [address = ""] = server.resolvedUrls?.local ?? [];
say(`
  The portal, in front of ${service}:  ${address}
  Passkeys and the Content-Security-Policy are those of the built pages: npm run build, then ${service}/portal
`);
