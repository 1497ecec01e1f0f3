// A stub in place of the service: answers at almost no cost, to measure the generator alone; for a sender it is an empty route of the same
// framework that only checks the signature.
import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Sender } from "./stage.ts";

/** The stub, run as its own process. */
export class Stub {
  private readonly child: ChildProcess;
  readonly port: number;

  private constructor(child: ChildProcess, port: number) {
    this.child = child;
    this.port = port;
  }

  static async start(sender?: Sender): Promise<Stub> {
    const env = { ...process.env, STUB: JSON.stringify({ secret: sender?.secret }) };
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url)], {
      env,
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const [{ port }] = (await once(child, "message")) as [{ port: number }];
    return new Stub(child, port);
  }

  async stop(): Promise<void> {
    const exit = once(this.child, "exit");
    this.child.kill();
    await exit;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { secret } = JSON.parse(process.env.STUB ?? "{}") as { secret?: string };
  const { default: fastify } = await import("fastify");
  const server = fastify();
  if (secret === undefined) {
    server.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    server.post("/v1/payments", (_request, reply) => reply.code(201).send({ qr_string: "stub" }));
  } else {
    const key = createSecretKey(Buffer.from(secret));
    server.get("/v1/payments/:reference", (request, reply) => {
      const { "x-timestamp": timestamp = "", "x-signature": signature = "" } = request.headers;
      const wanted = createHmac("sha256", key)
        .update(`${String(timestamp)}.`)
        .digest();
      const given = Buffer.from(String(signature), "hex");
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return reply.code(401).send({});
      return reply.send({ status: "empty" });
    });
  }
  await server.listen({ port: 0, host: "127.0.0.1" });
  process.send?.({ port: (server.server.address() as { port: number }).port });
}
