// Reverse proxies in front of several processes, as in installations: a small one that behaves like nginx by default, and nginx itself.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, type IncomingMessage, type ServerResponse, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./service.ts";

export interface Proxy {
  origin: string;
  close(): Promise<void>;
}

/**
 * Starts a proxy that keeps connections and takes its upstreams in turns. When a connection cannot be made, it tries the next upstream, for any
 * method. When a connection breaks later, it tries the next one only for GET and HEAD; other requests may have been done, and get 502.
 */
export async function startProxy(ports: readonly number[]): Promise<Proxy> {
  // "fifo" uses all kept connections in turns, so none stays unused until its process stops, when the fate of its next request would be unknown.
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 32, scheduling: "fifo" });
  let turn = 0;
  const pass = (incoming: IncomingMessage, answer: ServerResponse, body: Buffer, from: number, tries: number): void => {
    const port = ports[from % ports.length];
    const { method = "GET", url, headers } = incoming;
    const { connection: _own, ...passed } = headers;
    let connected = false;
    const outgoing = request({ agent, host: "127.0.0.1", port, method, path: url, headers: passed });
    outgoing.on("socket", (socket) => {
      if (outgoing.reusedSocket) connected = true;
      else socket.once("connect", () => (connected = true));
    });
    outgoing.on("response", (response) => {
      const { connection: _theirs, ...given } = response.headers;
      answer.writeHead(response.statusCode ?? 502, given);
      response.pipe(answer);
    });
    outgoing.on("error", () => {
      const again = (!connected || method === "GET" || method === "HEAD") && tries > 1;
      if (again) pass(incoming, answer, body, from + 1, tries - 1);
      else answer.writeHead(502).end("bad gateway");
    });
    outgoing.end(body);
  };
  const server = createServer((incoming, answer) => {
    const parts: Buffer[] = [];
    incoming.on("data", (part: Buffer) => parts.push(part));
    incoming.on("end", () => pass(incoming, answer, Buffer.concat(parts), turn++, ports.length));
  });
  server.keepAliveTimeout = 75_000; // nginx's: a client that waited five seconds on a busy machine finds its connection open
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      agent.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export const hasNginx = spawnSync("nginx", ["-v"], { env: pathWithSystem() }).status === 0;

/** Starts nginx with the upstream of the configuration that ships, at two other ports. */
export async function startNginx(ports: readonly number[]): Promise<Proxy> {
  const directory = mkdtempSync(join(tmpdir(), "nginx-"));
  const port = await freePort();
  const shipped = readFileSync(new URL("../../deploy/nginx/gerbang.conf", import.meta.url), "utf8");
  const upstream = /^upstream gerbang \{.*?^\}/ms.exec(shipped)?.[0] ?? "";
  const moved = upstream.replace(":8080", `:${ports[0]}`).replace(":8090", `:${ports[1]}`);
  writeFileSync(
    join(directory, "nginx.conf"),
    `daemon off; worker_processes 1; pid ${directory}/pid; error_log ${directory}/error.log;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path ${directory}; proxy_temp_path ${directory}; fastcgi_temp_path ${directory};
  uwsgi_temp_path ${directory}; scgi_temp_path ${directory};
  ${moved}
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://gerbang;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr;
    }
  }
}
`,
  );
  const child = spawn("nginx", ["-c", join(directory, "nginx.conf"), "-e", join(directory, "error.log")], {
    env: pathWithSystem(),
    stdio: "ignore",
  });
  const origin = `http://127.0.0.1:${port}`;
  await answers(origin, child);
  return {
    origin,
    async close() {
      child.kill("SIGTERM");
      await once(child, "exit");
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function answers(origin: string, child: ChildProcess): Promise<void> {
  for (const end = Date.now() + 200_000; Date.now() < end && child.exitCode === null;) {
    try {
      await (await fetch(`${origin}/livez`)).text();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 25)); // not listening yet
    }
  }
  throw new Error("nginx did not start");
}

/** PATH with the folders in which Debian installs servers; only root has them in PATH by default. */
function pathWithSystem(): Record<string, string> {
  return { PATH: `${process.env.PATH ?? ""}:/usr/sbin:/sbin` };
}
