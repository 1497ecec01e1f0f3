// A program for tests that serves a route of Next with `Request` and `Response`, as Next's server does. Usage: next-route.ts FOLDER.
import { serve } from "@hono/node-server";

const [folder = ""] = process.argv.slice(2);
process.env.NEXT_RUNTIME = "nodejs";
const { POST } = (await import(`${folder}/app/webhooks/route.js`)) as { POST: (request: Request) => Promise<Response> };
const { register } = (await import(`${folder}/instrumentation.js`)) as { register: () => Promise<void> };
await register();
serve({
  port: Number(process.env.PORT),
  hostname: "127.0.0.1",
  fetch: (request) =>
    request.method === "POST" && new URL(request.url).pathname === "/webhooks"
      ? POST(request)
      : new Response(null, { status: 404 }),
});
