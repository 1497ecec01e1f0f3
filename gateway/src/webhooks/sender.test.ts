// Goal: one attempt is signed, verified, bounded and told in plain words, whatever the receiver does. Method: real TLS
// receivers on loopback, behaving badly in every way known; only the name servers are played.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, type Server, type Socket, createServer as createTcpServer } from "node:net";
import { setImmediate } from "node:timers/promises";
import tls from "node:tls";
import { gzipSync } from "node:zlib";
import { generate } from "selfsigned";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { type Certificates, Receiver, isGenuine, makeCertificates } from "../../../e2e/kit/receiver.ts";
import { systemClock } from "../ground/clock.ts";
import { webhookSecret } from "../merchants/directory.ts";
import { exemptionsOf } from "./exemptions.ts";
import { vet } from "./guard.ts";
import { type AttemptResult, type OutgoingDelivery, Sender, type SenderTiming } from "./sender.ts";
import { slowness, waiting } from "../../test/slowness.ts";

const names = vi.hoisted(() => new Map<string, () => Promise<string[]>>());
/** Addresses of IPv6; names that are not here have none. */
const namesOfSix = vi.hoisted(() => new Map<string, string[] | Promise<string[]>>());
vi.mock("node:dns/promises", async (original) => {
  const real = await original<typeof import("node:dns/promises")>();
  return {
    ...real,
    lookup: async (name: string, options: object): Promise<unknown> =>
      (await names.get(name)?.())?.map((address) => ({ address, family: 4 })) ?? real.lookup(name, options),
    Resolver: class {
      resolve4(name: string): Promise<string[]> {
        const found = names.get(name);
        return found ? found() : Promise.reject(Object.assign(new Error(`no ${name}`), { code: "ENOTFOUND" }));
      }
      resolve6(name: string): Promise<string[]> {
        const found = namesOfSix.get(name);
        return found
          ? Promise.resolve(found)
          : Promise.reject(Object.assign(new Error("no data"), { code: "ENODATA" }));
      }
      cancel(): void {}
    },
  };
});

/** The ten seconds and the one second of the product, shortened. */
const short = { deadlineMs: 800, bodyMs: 200, slowBodyMs: 100 };
const SECRET = "whsec_of_the_tests";
const trusted = tls.getCACertificates("default");
let certificates: Certificates;
let expired: { key: string; cert: string };
/** For `hooks.merchant.com`. */
let ofName: { key: string; cert: string };
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  certificates = await makeCertificates();
  const past = { notBeforeDate: new Date("2024-01-01"), notAfterDate: new Date("2024-02-01") };
  const authority = await generate([{ name: "commonName", value: "Authority of the tests" }], {
    keyType: "ec",
    algorithm: "sha256",
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, critical: true },
    ],
  });
  const leafOf = async (value: string, during: object): Promise<{ key: string; cert: string }> => {
    const leaf = await generate([{ name: "commonName", value }], {
      keyType: "ec",
      algorithm: "sha256",
      ...during,
      ca: { key: authority.private, cert: authority.cert },
      extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value }] }],
    });
    return { key: leaf.private, cert: leaf.cert };
  };
  expired = await leafOf("localhost", past);
  ofName = await leafOf("hooks.merchant.com", {});
  tls.setDefaultCACertificates([...trusted, readFileSync(certificates.caFile, "utf8"), authority.cert]);
});

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  names.clear();
  namesOfSix.clear();
});

afterAll(() => tls.setDefaultCACertificates(trusted));

const named = { clock: systemClock, prefix: "X-SVC-", serviceName: "gerbang" };

function sender(...allowed: string[]): Sender {
  return timed(undefined, ...allowed);
}

function timed(timing: SenderTiming | undefined, ...allowed: string[]): Sender {
  const made = new Sender({ ...named, exemptions: exemptionsOf(allowed), timing });
  closers.push(() => made.close());
  return made;
}

function delivery(url: string, changes: Partial<OutgoingDelivery> = {}): OutgoingDelivery {
  return {
    url,
    secrets: [webhookSecret(SECRET)],
    eventId: "evt_06e1f0000000000000000000a1",
    type: "payment.succeeded",
    body: '{"id":"evt_06e1f0000000000000000000a1","note":"é € 漢"}',
    attempt: 1,
    ...changes,
  };
}

async function listen(
  server: Server,
  host = "127.0.0.1",
  at = 0,
): Promise<{ port: number; connections: () => number }> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on("connection", (socket) => {
    connections++;
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
  });
  server.listen(at, host);
  await once(server, "listening");
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

/** A receiver over TLS that answers as told. */
async function answering(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  identity: { key: string; cert: string } = certificates,
): Promise<string> {
  const server = createHttpsServer({ key: identity.key, cert: identity.cert }, (request, response) => {
    request.resume();
    request.on("end", () => answer(request, response));
    response.on("error", () => response.destroy());
  });
  server.on("tlsClientError", () => undefined); // a client that hangs up over a certificate is what some tests want
  return `https://localhost:${(await listen(server)).port}/hook`;
}

async function receiver(): Promise<Receiver> {
  const made = await Receiver.start(certificates);
  closers.push(() => made.close());
  return made;
}

/** Failed, with a sentence for people, and with none of an answer that never came. */
function expectFailure(result: AttemptResult, reason: RegExp): void {
  expect(result).toMatchObject({ succeeded: false, status: undefined, responseHeaders: undefined });
  expect(result.reason).toMatch(reason);
  expect(result.reason).toMatch(/^[A-Z].*\.?$/);
  expect(result.durationMs).toBeGreaterThanOrEqual(0);
  expect(Number.isInteger(result.durationMs)).toBe(true);
}

test("an attempt carries the headers of the interface and a signature over the exact bytes", async () => {
  const to = await receiver();
  const sent = delivery(to.url("/hook?shop=1"), { attempt: 3 });
  const result = await sender("localhost").send(sent);
  expect(result).toMatchObject({ succeeded: true, status: 200, reason: undefined, address: "127.0.0.1" });
  expect(result.responseBody?.toString()).toBe("ok");
  expect(result.startedAt).toBeGreaterThan(systemClock.now() - 10_000_000);
  const got = await to.waitFor(() => true);
  expect(got.path).toBe("/hook?shop=1");
  expect(got.body).toBe(sent.body);
  expect(got.headers).toMatchObject({
    "content-type": expect.stringMatching(/^application\/json/),
    "x-svc-event-id": sent.eventId,
    "x-svc-event-type": sent.type,
    "x-svc-delivery-attempt": "3",
    "x-svc-timestamp": expect.stringMatching(/^\d{10}$/),
    "x-svc-signature": expect.stringMatching(/^[0-9a-f]{64}$/),
    "content-length": String(Buffer.byteLength(sent.body)),
    host: `localhost:${to.port}`,
  });
  expect(isGenuine(got, SECRET)).toBe(true);
  expect(isGenuine(got, "another secret")).toBe(false);
  expect(result.requestHeaders).toMatchObject({ "X-SVC-Signature": got.headers["x-svc-signature"] });
});

test("2xx succeeds, everything else fails with its status, and no redirect is followed", async () => {
  const paths: string[] = [];
  const url = await answering((request, response) => {
    paths.push(request.url ?? "");
    const status = Number(request.url?.slice("/hook/".length));
    response.writeHead(status, { location: "/elsewhere" }).end(status === 204 ? undefined : `answer ${status}`);
  });
  const from = sender("localhost");
  for (const status of [200, 201, 204, 299]) {
    const result = await from.send(delivery(`${url}/${status}`));
    expect(result).toMatchObject({ succeeded: true, status, reason: undefined });
  }
  for (const status of [301, 302, 307, 308, 400, 401, 404, 410, 429, 500, 503]) {
    const result = await from.send(delivery(`${url}/${status}`));
    expect(result).toMatchObject({ succeeded: false, status, address: "127.0.0.1" });
    expect(result.reason).toContain(String(status));
    expect(result.responseBody?.toString()).toBe(`answer ${status}`);
  }
  expect(paths).not.toContain("/elsewhere");
});

test("what comes before the answer is not taken for it", async () => {
  const url = await answering((_request, response) => {
    response.writeProcessing();
    response.writeEarlyHints({ link: "</style.css>; rel=preload" }, () => {
      response.writeHead(500, { "x-own": "late" }).end("no");
    });
  });
  const result = await sender("localhost").send(delivery(url));
  expect(result).toMatchObject({ succeeded: false, status: 500, responseHeaders: { "x-own": "late" } });
  expect(result.responseBody?.toString()).toBe("no");
});

test("a connection that is refused, reset or closed without an answer is a failure in words", async () => {
  const reset = await answering((request) => (request.socket as tls.TLSSocket).destroy());
  const from = sender("localhost");
  expectFailure(await from.send(delivery(reset)), /reset|closed/i);
  const rude = createTcpServer((socket) => socket.resetAndDestroy());
  const { port } = await listen(rude);
  expectFailure(await from.send(delivery(`https://localhost:${port}/`)), /reset|closed/i);
  expectFailure(await from.send(delivery("https://localhost:1/")), /refused the connection/i);
});

test("a name that cannot be looked up is a failure that speaks of the name", async () => {
  const from = sender();
  expectFailure(await from.send(delivery("https://gone.merchant.com/")), /name does not exist/i);
  // What name servers say: no address, failed, no answer, and nobody there (which is not the receiver refusing).
  for (const code of ["ENODATA", "ESERVFAIL", "ETIMEOUT", "ECONNREFUSED"]) {
    names.set("lost.merchant.com", () => Promise.reject(Object.assign(new Error(code), { code, syscall: "queryA" })));
    expectFailure(await from.send(delivery("https://lost.merchant.com/")), /name|looked up/i);
  }
});

test("a certificate for another name, a self-signed one and an expired one are refused before anything is sent", async () => {
  let requests = 0;
  const count = (_request: IncomingMessage, response: ServerResponse): void => {
    requests++;
    response.end();
  };
  const self = await generate([{ name: "commonName", value: "localhost" }], {
    keyType: "ec",
    algorithm: "sha256",
    extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: "localhost" }] }],
  });
  const from = sender("localhost", "127.0.0.2");
  const other = createHttpsServer({ key: certificates.key, cert: certificates.cert }, count);
  other.on("tlsClientError", () => undefined);
  other.listen(0, "127.0.0.2");
  await once(other, "listening");
  closers.push(async () => {
    other.closeAllConnections();
    other.close();
    await once(other, "close");
  });
  const port = (other.address() as AddressInfo).port;
  expectFailure(await from.send(delivery(`https://127.0.0.2:${port}/`)), /another name/i);
  expectFailure(
    await from.send(delivery(await answering(count, { key: self.private, cert: self.cert }))),
    /self-signed/i,
  );
  expectFailure(await from.send(delivery(await answering(count, expired))), /expired/i);
  expect(requests).toBe(0);
});

test("what is not TLS, or not HTTP inside it, is a failure in words", async () => {
  const plain = createTcpServer((socket) => {
    socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"));
  });
  const { port } = await listen(plain);
  const from = sender("localhost");
  const overPlain = await from.send(delivery(`https://localhost:${port}/`));
  expectFailure(overPlain, /TLS/);
  for (const words of [
    "220 mail.example.com ESMTP\r\n",
    "HTTP/1.1 abc\r\n\r\n",
    "\0\0\0\0\r\n\r\n",
    "HTTP/1.1 101 Go\r\nupgrade: x\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok",
    "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
  ]) {
    const server = tls.createServer({ key: certificates.key, cert: certificates.cert }, (socket) => {
      socket.on("error", () => socket.destroy());
      socket.once("data", () => socket.end(words));
    });
    const result = await from.send(delivery(`https://localhost:${(await listen(server)).port}/`));
    expectFailure(result, /not valid HTTP|closed/i);
  }
  expectFailure(await from.send(delivery(`http://localhost:${port}/`)), /^Refused: .*https/);
});

test("a 100 Continue that was not asked for is named, and early hints are passed over", async () => {
  const answers = async (words: string) => {
    const server = tls.createServer({ key: certificates.key, cert: certificates.cert }, (socket) => {
      socket.on("error", () => socket.destroy());
      socket.once("data", () => socket.end(`${words}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok`));
    });
    return sender("localhost").send(delivery(`https://localhost:${(await listen(server)).port}/`));
  };
  expectFailure(await answers("HTTP/1.1 100 Continue\r\n\r\n"), /100 Continue/);
  expect(await answers("HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n")).toMatchObject({ succeeded: true, status: 200 });
});

test("a receiver that sends early hints without end is left at once", async () => {
  const server = tls.createServer({ key: certificates.key, cert: certificates.cert }, (socket) => {
    const flood = (): void => {
      while (!socket.destroyed && socket.write("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1_000)));
    };
    socket.on("drain", flood).on("error", () => socket.destroy());
    socket.once("data", flood);
  });
  const { port } = await listen(server);
  const result = await sender("localhost").send(delivery(`https://localhost:${port}/`));
  expectFailure(result, /sent more than 16 statuses of 1xx/);
});

test("of an endless answer at most 16 KiB are taken, and the rest is neither read nor waited for", async () => {
  let written = 0;
  let closed = false;
  const chunk = Buffer.alloc(65_536, "x");
  const url = await answering((request, response) => {
    response.writeHead(200);
    const more = (): void => {
      while (!response.destroyed && response.write(chunk)) written += chunk.length;
      response.once("drain", more);
    };
    request.socket.once("close", () => (closed = true));
    more();
  });
  const before = process.memoryUsage().rss;
  const result = await sender("localhost").send(delivery(url));
  expect(result).toMatchObject({ succeeded: true, status: 200, address: "127.0.0.1" });
  expect(result.responseBody).toHaveLength(16_384);
  expect(result.durationMs).toBeLessThan(3_000);
  await vi.waitFor(() => expect(closed).toBe(true), 30_000);
  expect(written).toBeLessThan(16 * 1024 * 1024);
  expect(process.memoryUsage().rss - before).toBeLessThan(96 * 1024 * 1024);
});

test("headers of an answer are bounded: many are cut to a hundred, too large ones fail the attempt", async () => {
  const url = await answering((request, response) => {
    if (request.url?.endsWith("/huge")) response.setHeader("x-huge", "h".repeat(64_000));
    else for (let number = 0; number < 300; number++) response.setHeader(`x-${number}`, "v".repeat(20));
    response.end("ok");
  });
  const from = sender("localhost");
  const many = await from.send(delivery(`${url}/many`));
  expect(many).toMatchObject({ succeeded: true, status: 200 });
  expect(Object.keys(many.responseHeaders ?? {}).length).toBeLessThanOrEqual(100);
  expectFailure(await from.send(delivery(`${url}/huge`)), /headers of the answer were too large/i);
});

test("an address as host is held against the certificate's addresses, and needs the exemption", async () => {
  const server = createHttpsServer({ key: certificates.key, cert: certificates.cert }, (request, response) => {
    request.resume();
    response.end("ok");
  });
  const { port, connections } = await listen(server);
  const url = `https://127.0.0.1:${port}/`;
  expectFailure(await sender().send(delivery(url)), /^Refused: .*public/);
  expectFailure(await sender("localhost").send(delivery(url)), /^Refused: .*public/);
  for (const spelling of ["2130706433", "0x7f000001", "127.1", "[::ffff:127.0.0.1]", "[::1]", "0"]) {
    expectFailure(await sender().send(delivery(`https://${spelling}:${port}/`)), /^Refused: .*public/);
  }
  expect(connections()).toBe(0);
  expect(await sender("127.0.0.1").send(delivery(url))).toMatchObject({ succeeded: true, address: "127.0.0.1" });
  expect(connections()).toBe(1);
});

test("a name that leads to an address that is not public is refused without a connection, by any of its addresses", async () => {
  const { port, connections } = await listen(createTcpServer());
  const from = sender();
  expectFailure(await from.send(delivery(`https://localhost:${port}/`)), /^Refused: /);
  for (const found of [["127.0.0.1"], ["93.184.215.14", "127.0.0.1"], ["169.254.169.254"], ["10.0.0.8"]]) {
    names.set("hook.merchant.com", () => Promise.resolve(found));
    const result = await from.send(delivery(`https://hook.merchant.com:${port}/`));
    // Nothing of what the name stands for: name servers of a private network say what a merchant may not know.
    expectFailure(result, /^Refused: hook\.merchant\.com leads to an address that is not public$/);
    expect(result.address).toBeUndefined();
  }
  expect(connections()).toBe(0);
});

/** A sender beside networks that the operator named, as the configuration would give them but for the first. */
function inNetworks(...networks: string[]): Sender {
  const made = new Sender({ ...named, exemptions: exemptionsOf([], networks) });
  closers.push(() => made.close());
  return made;
}

test("a network that the operator names is reached over verified TLS, at the address that was vetted", async () => {
  const { port, connections } = await listen(createHttpsServer(certificates, (_request, response) => response.end()));
  const from = inNetworks("127.0.0.0/30");
  expect(await from.send(delivery(`https://127.0.0.1:${port}/`))).toMatchObject({
    succeeded: true,
    address: "127.0.0.1",
  });
  names.set("hooks.shop.internal", () => Promise.resolve(["127.0.0.1"]));
  // it is reached, and its certificate is for another name
  const misnamed = await from.send(delivery(`https://hooks.shop.internal:${port}/`));
  expectFailure(misnamed, /certificate is for another name/);
  const reached = connections();
  expectFailure(await from.send(delivery(`http://127.0.0.1:${port}/`)), /begin with https/);
  expectFailure(await from.send(delivery(`https://127.0.0.5:${port}/`)), /^Refused: /);
  expect(connections()).toBe(reached);
});

test("a name that leads into a named network and then beside it is refused, by any of its addresses", async () => {
  const { port, connections } = await listen(createHttpsServer(certificates, (_request, response) => response.end()));
  const from = inNetworks("10.1.0.0/16");
  const elsewhere = [["127.0.0.1"], ["10.1.0.8", "127.0.0.1"], ["169.254.169.254"], ["10.2.0.1"], ["::ffff:10.1.0.8"]];
  for (const found of elsewhere) {
    names.set("rebind.shop.internal", () => Promise.resolve(found));
    expectFailure(
      await from.send(delivery(`https://rebind.shop.internal:${port}/`)),
      /^Refused: .*leads to an address that is not public$/,
    );
  }
  expect(connections()).toBe(0);
  names.set("rebind.shop.internal", () => Promise.resolve(["10.1.0.8"]));
  await expect(vet("rebind.shop.internal", exemptionsOf([], ["10.1.0.0/16"]))).resolves.toHaveLength(1);
  await expect(vet("rebind.shop.internal", exemptionsOf([]))).rejects.toThrow(/not a public name/);
});

test("a name is looked up once an attempt and connected to as it was vetted: what it says the next time does not count", async () => {
  const { port, connections } = await listen(createTcpServer((socket) => socket.end()));
  const answers = [["93.184.215.14"], ["127.0.0.1"]];
  let asked = 0;
  names.set("rebind.merchant.com", () => Promise.resolve(answers[Math.min(asked++, 1)] ?? []));
  expect(await vet("rebind.merchant.com", exemptionsOf([]))).toEqual([{ address: "93.184.215.14", family: 4 }]);
  await expect(vet("rebind.merchant.com", exemptionsOf([]))).rejects.toThrow(/leads to an address that is not public$/);
  // Public first, private at the attempt: refused before anything is sent.
  asked = 1;
  expectFailure(await sender().send(delivery(`https://rebind.merchant.com:${port}/`)), /^Refused: /);
  expect([asked, connections()]).toEqual([2, 0]);
});

test("a name server that never answers for one family costs a moment, and what comes within it is judged", async () => {
  const never = new Promise<string[]>(() => undefined);
  names.set("four.merchant.com", () => Promise.resolve(["93.184.215.14"]));
  namesOfSix.set("four.merchant.com", never);
  names.set("six.merchant.com", () => never);
  namesOfSix.set("six.merchant.com", ["2606:4700::1111"]);
  const none = exemptionsOf([]);
  const took = await waiting(async () => {
    expect(await Promise.all([vet("four.merchant.com", none), vet("six.merchant.com", none)])).toEqual([
      [{ address: "93.184.215.14", family: 4 }],
      [{ address: "2606:4700::1111", family: 6 }],
    ]);
  });
  expect(took).toBeLessThan(1_500 * slowness()); // 250 ms on a machine with nothing else to do
  namesOfSix.set("four.merchant.com", setImmediate(["fd00::1"]));
  await expect(vet("four.merchant.com", none)).rejects.toThrow(/leads to an address that is not public$/);
});

test("an address of IPv6 beside a public one of IPv4 is judged as well, whatever is wrapped in it", async () => {
  const { port, connections } = await listen(createTcpServer());
  names.set("both.merchant.com", () => Promise.resolve(["93.184.215.14"]));
  for (const address of [
    "::1",
    "::ffff:10.0.0.1",
    "::ffff:a00:1",
    "fd00::1",
    "fe80::1%lo",
    "64:ff9b::a9fe:a9fe",
    "2002:7f00:1::",
  ]) {
    namesOfSix.set("both.merchant.com", ["2606:4700::1111", address]);
    const result = await sender().send(delivery(`https://both.merchant.com:${port}/`));
    expectFailure(result, /^Refused: both\.merchant\.com leads to an address that is not public$/);
  }
  expect(connections()).toBe(0);
});

test("a name with several addresses is reached while one of them answers", async () => {
  const { port } = await listen(
    createHttpsServer(ofName, (request, response) => request.resume().on("end", () => response.end())),
  );
  const from = inNetworks("127.0.0.0/28");
  const url = `https://hooks.merchant.com:${port}/`;
  names.set("hooks.merchant.com", () => Promise.resolve(["127.0.0.2", "127.0.0.3", "127.0.0.1", "127.0.0.4"]));
  expect(await from.send(delivery(url))).toMatchObject({ succeeded: true, address: "127.0.0.1" });
});

test("a name of whose addresses none answers is told as refused", async () => {
  names.set("dead.merchant.com", () => Promise.resolve(["127.0.0.2", "127.0.0.3"]));
  expectFailure(
    await inNetworks("127.0.0.0/28").send(delivery("https://dead.merchant.com:1/")),
    /refused the connection/,
  );
});

test("of a name with very many addresses only the first few are tried", async () => {
  const { port, connections } = await listen(createTcpServer((socket) => socket.end()));
  const dead = Array.from({ length: 8 }, (_, number) => `127.0.0.${number + 2}`);
  names.set("many.merchant.com", () => Promise.resolve([...dead, "127.0.0.1"]));
  const result = await inNetworks("127.0.0.0/28").send(delivery(`https://many.merchant.com:${port}/`));
  expectFailure(result, /refused the connection/);
  expect(connections()).toBe(0);
});

test("an address in the URL is told to the server as no name, and the certificate is held against it whole", async () => {
  const genuine = tls.connect;
  // Nothing answers at port 1.
  const connect = vi.spyOn(tls, "connect").mockImplementation(() => genuine({ host: "127.0.0.1", port: 1 }));
  const from = sender("2606:4700::1111", "127.0.0.1");
  for (const host of ["[2606:4700::1111]", "127.0.0.1"]) await from.send(delivery(`https://${host}:1/`));
  const told = connect.mock.calls.map(([options]) => options as tls.ConnectionOptions);
  connect.mockRestore();
  expect(told.map(({ host, servername }) => [host, servername || undefined])).toEqual([
    ["2606:4700::1111", undefined],
    ["127.0.0.1", undefined],
  ]);
});

test("a name that moves: its open connection is used as it was vetted, and each new one is vetted anew", async () => {
  const asked: (string | undefined)[] = [];
  let close = false;
  const server = createHttpsServer(ofName, (request, response) => {
    asked.push((request.socket as tls.TLSSocket).servername || undefined);
    request.resume().on("end", () => response.writeHead(200, close ? { connection: "close" } : {}).end());
  });
  const { port, connections } = await listen(server, "0.0.0.0");
  const from = inNetworks("127.0.0.0/30");
  const url = `https://hooks.merchant.com:${port}/`;
  names.set("hooks.merchant.com", () => Promise.resolve(["127.0.0.1"]));
  expect(await from.send(delivery(url))).toMatchObject({ succeeded: true, address: "127.0.0.1" });
  // The name leads elsewhere now. The socket is still one to the address that was vetted.
  names.set("hooks.merchant.com", () => Promise.resolve(["127.0.0.5"]));
  close = true;
  await setImmediate(); // the socket is free only then
  expect(await from.send(delivery(url))).toMatchObject({ succeeded: true, address: "127.0.0.1" });
  expect(connections()).toBe(1);
  expectFailure(
    await from.send(delivery(url)),
    /^Refused: hooks\.merchant\.com leads to an address that is not public$/,
  );
  expect(connections()).toBe(1);
  // The certificate is held against the name that was asked for, which the server was told, and not against the address.
  names.set("hooks.merchant.com", () => Promise.resolve(["127.0.0.2"]));
  expect(await from.send(delivery(url))).toMatchObject({ succeeded: true, address: "127.0.0.2" });
  names.set("other.merchant.com", () => Promise.resolve(["127.0.0.2"]));
  expectFailure(await from.send(delivery(`https://other.merchant.com:${port}/`)), /another name/);
  expect(asked).toEqual(["hooks.merchant.com", "hooks.merchant.com", "hooks.merchant.com"]);
});

test("a bomb is not unpacked: what is kept are the bytes as they came", async () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  const url = await answering((_request, response) => {
    response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
  });
  const before = process.memoryUsage().rss;
  const result = await sender("localhost").send(delivery(url));
  expect(result).toMatchObject({ succeeded: true, status: 200 });
  expect(result.responseBody).toEqual(bomb.subarray(0, 16_384));
  expect(process.memoryUsage().rss - before).toBeLessThan(32 * 1024 * 1024);
});

interface Slow {
  result: AttemptResult;
  /** Until the caller had it, which the record's own duration need not tell: by the clock, and as `waiting` counts it. */
  ms: number;
  waitedMs: number;
}
let slowResults: Promise<Record<"silent" | "body" | "hints" | "handshake" | "name", Slow>> | undefined;

/** All attempts that take their whole time, side by side and once for the tests below. */
function slowAttempts(): NonNullable<typeof slowResults> {
  slowResults ??= (async () => {
    const silent = await answering(() => undefined);
    const body = await answering((_request, response) => {
      response.writeHead(200);
      response.write("first words");
    });
    const hints = await answering((request) => {
      const timer = setInterval(() => request.socket.write("HTTP/1.1 103 Early Hints\r\n\r\n"), 50);
      request.socket.on("close", () => clearInterval(timer));
    });
    const deaf = await listen(createTcpServer()); // takes the connection and never shakes hands
    names.set("slow.merchant.com", async () => {
      await new Promise((resolve) => setTimeout(resolve, 1.3 * short.deadlineMs));
      return ["127.0.0.1"];
    });
    const from = timed(short, "localhost");
    const begun = performance.now();
    const send = async (url: string): Promise<Slow> => {
      const sending = from.send(delivery(url));
      const waitedMs = await waiting(() => sending);
      return { result: await sending, ms: performance.now() - begun, waitedMs };
    };
    const results = await Promise.all(
      [silent, body, hints, `https://localhost:${deaf.port}/`, "https://slow.merchant.com/"].map(send),
    );
    const [a, b, c, d, e] = results as [Slow, Slow, Slow, Slow, Slow];
    return { silent: a, body: b, hints: c, handshake: d, name: e };
  })();
  return slowResults;
}

/** The deadline, and as much as a busy machine may be late. */
const LATEST_MS = short.deadlineMs + 1_500;

test("a receiver that gives no status line before the deadline has failed", async () => {
  const { silent, hints } = await slowAttempts();
  for (const { result, ms, waitedMs } of [silent, hints]) {
    expectFailure(result, /did not answer within 0\.8 seconds/i);
    expect(ms).toBeGreaterThan(0.95 * short.deadlineMs);
    expect(waitedMs).toBeLessThan(LATEST_MS * slowness());
  }
});

test("after a timely 200 the body's pace decides nothing, and holds no call for longer than its second", async () => {
  const { body } = await slowAttempts();
  expect(body.result).toMatchObject({ succeeded: true, status: 200, reason: undefined, address: "127.0.0.1" });
  expect(body.result.responseBody?.toString()).toBe("first words");
  expect(body.result.durationMs).toBeLessThan(short.deadlineMs);
  expect(body.result.heldMs).toBeGreaterThan(0.9 * short.bodyMs);
  expect(body.waitedMs).toBeLessThan((short.deadlineMs + short.bodyMs) * slowness());
});

test("a body that drips for ever is cut off, and its connection with it", async () => {
  let closed = false;
  const url = await answering((request, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write("."), 20);
    request.socket.once("close", () => {
      clearInterval(timer);
      closed = true;
    });
  });
  let result: AttemptResult | undefined;
  const took = await waiting(async () => (result = await timed(short, "localhost").send(delivery(url))));
  expect(took).toBeLessThan((short.deadlineMs + short.bodyMs) * slowness());
  expect(result).toMatchObject({ succeeded: true, status: 200, reason: undefined });
  expect(result?.responseBody?.toString()).toMatch(/^\.{2,}$/);
  await vi.waitFor(() => expect(closed).toBe(true), 30_000);
});

test("the deadline includes a handshake that never comes", async () => {
  const { handshake } = await slowAttempts();
  expectFailure(handshake.result, /did not answer within 0\.8 seconds|could not be made in time/i);
  expect(handshake.waitedMs).toBeLessThan(LATEST_MS * slowness());
});

test("the deadline includes the name server's time", async () => {
  const { name } = await slowAttempts();
  expectFailure(name.result, /0\.8 seconds|looked up|in time/i);
  expect(name.waitedMs).toBeLessThan(LATEST_MS * slowness());
});

test("where an attempt connected to is recorded even when no answer came", async () => {
  const { silent } = await slowAttempts();
  expect(silent.result.address).toBe("127.0.0.1");
  const hangingUp = await answering((request) => void request.socket.destroy());
  expect((await sender("localhost").send(delivery(hangingUp))).address).toBe("127.0.0.1");
});

test("each attempt records the address of the connection that carried it, of several to one host", async () => {
  const here = (request: IncomingMessage, response: ServerResponse): void => {
    setTimeout(() => response.writeHead(200, { "x-here": request.socket.localAddress }).end(), 50);
  };
  const identity = { key: certificates.key, cert: certificates.cert };
  const { port } = await listen(createHttpsServer(identity, here), "127.0.0.1");
  await listen(createHttpsServer(identity, here), "127.0.0.2", port);
  let looked = 0;
  names.set("localhost", () => Promise.resolve([looked++ % 2 === 0 ? "127.0.0.1" : "127.0.0.2"]));
  const from = sender("localhost");
  const url = `https://localhost:${port}/`;
  const atOnce = await Promise.all([1, 2, 3, 4].map(() => from.send(delivery(url))));
  const later = await Promise.all([1, 2, 3, 4].map(() => from.send(delivery(url))));
  expect(new Set(later.map(({ address }) => address)).size).toBe(2);
  for (const { address, responseHeaders } of [...atOnce, ...later]) expect(address).toBe(responseHeaders?.["x-here"]);
});

test("no address is recorded for what was never sent, whatever went to that host before", async () => {
  let answers = 0;
  const server = createHttpsServer({ key: certificates.key, cert: certificates.cert }, (_request, response) => {
    answers++;
    response.writeHead(200, { connection: "close" }).end();
  });
  const { port } = await listen(server);
  const from = sender("localhost");
  expect((await from.send(delivery(`https://localhost:${port}/`))).address).toBe("127.0.0.1");
  server.setSecureContext(expired);
  const refused = await from.send(delivery(`https://localhost:${port}/`));
  expectFailure(refused, /expired/);
  expect([refused.address, answers]).toEqual([undefined, 1]);
});

test("whatever stands in the address, a result comes back and never an exception", async () => {
  const from = sender("localhost");
  for (const url of [
    "",
    "not a url",
    "https://",
    "ftp://x.com/",
    "https://user:pw@merchant.com/",
    "https://localhost:0/",
  ]) {
    expectFailure(await from.send(delivery(url)), /./);
  }
  await from.close();
  expectFailure(await from.send(delivery("https://localhost:1/")), /./);
});
