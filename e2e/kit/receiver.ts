// A merchant's webhook receiver over TLS, with its own certificate authority, for tests and the demo.
import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { type Server, createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generate } from "selfsigned";

export interface Certificates {
  /** File with the authority's certificate, for NODE_EXTRA_CA_CERTS. */
  caFile: string;
  key: string;
  cert: string;
}

let directory: string | undefined;

/** Removed when the process ends: one listener, however many authorities are made. */
function directoryOfThisProcess(): string {
  if (directory === undefined) {
    const made = mkdtempSync(join(tmpdir(), "gerbang-ca-"));
    process.once("exit", () => rmSync(made, { recursive: true, force: true }));
    directory = made;
  }
  return directory;
}

/** Makes a certificate for `localhost` and, with `address`, 127.0.0.1, signed by a new authority. */
export async function makeCertificates({ address = true } = {}): Promise<Certificates> {
  const notAfterDate = new Date(Date.now() + 24 * 3600 * 1000);
  const ca = await generate([{ name: "commonName", value: "Gerbang test authority" }], {
    keyType: "ec",
    algorithm: "sha256",
    notAfterDate,
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const leaf = await generate([{ name: "commonName", value: "localhost" }], {
    keyType: "ec",
    algorithm: "sha256",
    notAfterDate,
    ca: { key: ca.private, cert: ca.cert },
    extensions: [
      { name: "basicConstraints", cA: false },
      { name: "keyUsage", digitalSignature: true },
      { name: "extKeyUsage", serverAuth: true },
      {
        name: "subjectAltName",
        altNames: [
          { type: 2 as const, value: "localhost" },
          ...(address ? [{ type: 7 as const, ip: "127.0.0.1" }] : []),
        ],
      },
    ],
  });
  const caFile = join(mkdtempSync(join(directoryOfThisProcess(), "ca-")), "ca.pem");
  writeFileSync(caFile, ca.cert);
  return { caFile, key: leaf.private, cert: leaf.cert };
}

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into events of every shape
  event: any;
  /** Time at which the last byte arrived. */
  at: number;
  /** Time at which the headers arrived. */
  begunAt?: number;
}

export class Receiver {
  readonly received: Received[] = [];
  /** Answers a delivery; 200 at once unless a test replaces it. */
  answer: (delivery: Received, response: ServerResponse) => void = (_delivery, response) => {
    response.writeHead(200).end("ok");
  };
  private readonly server: Server;

  private constructor(server: Server) {
    this.server = server;
  }

  static async start(certificates: Certificates): Promise<Receiver> {
    const server = createServer({ key: certificates.key, cert: certificates.cert });
    const receiver = new Receiver(server);
    server.on("request", (request, response) => {
      const begunAt = Date.now();
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const body = Buffer.concat(parts).toString("utf8");
        const delivery = {
          path: request.url ?? "",
          headers: request.headers,
          body,
          event: JSON.parse(body),
          at: Date.now(),
          begunAt,
        };
        receiver.received.push(delivery);
        receiver.answer(delivery, response);
      });
      request.on("error", () => response.destroy());
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return receiver;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  url(path = "/hook"): string {
    return `https://localhost:${this.port}${path}`;
  }

  /** Uses another certificate from now on, and closes open connections. */
  present({ key, cert }: Pick<Certificates, "key" | "cert">): void {
    this.server.setSecureContext({ key, cert });
    this.server.closeAllConnections();
  }

  /** Waits for a delivery that satisfies `question`, and gives it. */
  async waitFor(question: (delivery: Received) => boolean, timeoutMs = 30_000): Promise<Received> {
    for (const end = Date.now() + timeoutMs; ;) {
      const found = this.received.find(question);
      if (found) return found;
      if (Date.now() > end)
        throw new Error(`no such delivery among ${this.received.map((delivery) => delivery.event.type).join(", ")}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }
}

/** The checks that interface 6.3 demands of a receiver: the signature over the raw bytes, in constant time, and a fresh timestamp. */
export function isGenuine(delivery: Received, webhookSecret: string, prefix = "x-svc-"): boolean {
  const timestamp = String(delivery.headers[`${prefix}timestamp`]);
  const expected = createHmac("sha256", webhookSecret).update(`${timestamp}.`).update(delivery.body).digest();
  const given = Buffer.from(String(delivery.headers[`${prefix}signature`]), "hex");
  const young = Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300;
  return young && given.length === expected.length && timingSafeEqual(given, expected);
}
