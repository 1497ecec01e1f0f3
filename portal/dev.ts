// `npm run portal`: the pages with hot reload, in front of a service that already runs. `npm run portal -- --service http://127.0.0.1:9000`;
// with `--face console` the operators' pages, in front of their listener, which has to be started with CONSOLE_URL=http://localhost:5173.
import { parseArgs } from "node:util";
import { type Plugin, createServer } from "vite";

const { values } = parseArgs({
  options: {
    face: { type: "string", default: "portal" },
    service: { type: "string" },
    port: { type: "string", default: "5173" },
  },
});
const isConsole = values.face === "console";
const service = new URL(values.service ?? `http://127.0.0.1:${isConsole ? 8082 : 8080}`).origin;
const say = (text: string): void => void process.stderr.write(`${text}\n`);

async function isDown(): Promise<boolean> {
  return fetch(`${service}/${isConsole ? "ops/v1/openapi.json" : "v1/health"}`).then(
    () => false,
    () => true,
  );
}

if (await isDown()) say(`No service answers at ${service} yet: start one with npm start. The pages wait for it.`);
/** Serves the console's own HTML file at all its addresses; Vite would serve the portal's. */
const consoleIndex: Plugin = {
  name: "console-index",
  configureServer({ middlewares }) {
    middlewares.use((request, _, next) => {
      const isPage = request.headers.accept?.includes("text/html") === true;
      if (isPage && request.url?.startsWith("/console")) request.url = "/console/console.html";
      next();
    });
  },
};
const server = await createServer({
  plugins: isConsole ? [consoleIndex] : [],
  root: import.meta.dirname,
  base: isConsole ? "/console/" : "/portal/",
  configFile: `${import.meta.dirname}/vite.config.ts`,
  server: {
    port: Number(values.port),
    // Browsers make passkeys for host names only.
    host: "localhost",
    proxy: {
      // The service gets the browser's own Host, Origin and Sec-Fetch-Site, so that it rejects posts that another site's page sends to this
      // port, as it does in production.
      "/ops/v1": { target: service, changeOrigin: false, xfwd: false },
      "/portal/v1": { target: service, changeOrigin: false, xfwd: false },
      "/v1": { target: service, changeOrigin: false },
      "/pay": { target: service, changeOrigin: false },
    },
  },
});
await server.listen();
const [address = ""] = server.resolvedUrls?.local ?? [];
say(`
  The ${values.face}, in front of ${service}:  ${address}
  Passkeys and the Content-Security-Policy are those of the built pages: npm run build, then ${service}/${values.face}
`);
