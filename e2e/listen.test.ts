// Goal: `gerbang listen` brings a developer's machine every event of its sandbox, whatever dies meanwhile, signed as a webhook is.
// Method: the real command against a whole service, with a receiver on plain HTTP; the command is killed in the middle of a
// delivery, the service restarted under load, and at the end every acknowledged fact is looked for among what was received.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { listenerSecret } from "../cli/src/listener/own-signature.ts";
import { Client, operate, settledLate } from "./kit/client.ts";
import { type Received, isGenuine } from "./kit/receiver.ts";
import { Service, gerbang, compiled } from "./kit/service.ts";
import { slowness, waiting } from "../gateway/test/slowness.ts";

const program = fileURLToPath(new URL("../gateway/bin/gerbang.js", import.meta.url));

/** A local program that receives; `onReceipt` runs before it answers. */
class LocalReceiver {
  readonly received: Received[] = [];
  onReceipt: (delivery: Received) => Promise<void> | void = () => undefined;
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const body = Buffer.concat(parts).toString("utf8");
        const { url: path = "", headers } = request;
        const delivery: Received = { path, headers, body, event: JSON.parse(body), at: Date.now() };
        this.received.push(delivery);
        void Promise.resolve(this.onReceipt(delivery)).then(() => response.writeHead(200).end("ok"));
      });
    });
  }

  async listen(port = 0): Promise<void> {
    this.server.listen(port, "127.0.0.1");
    await once(this.server, "listening");
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }
}

/** The command as a developer runs it, with its words so far. */
class Command {
  readonly process: ChildProcess;
  words = "";
  lines = "";

  constructor(args: string[], env: Record<string, string> = {}) {
    this.process = spawn(process.execPath, [program, "listen", ...args], {
      env: {
        PATH: process.env.PATH ?? "",
        HOME: service.dataDirectory,
        GERBANG_DATA: service.dataDirectory,
        ...compiled(),
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.process.stderr?.setEncoding("utf8").on("data", (text: string) => void (this.words += text));
    this.process.stdout?.setEncoding("utf8").on("data", (text: string) => void (this.lines += text));
    commands.push(this);
  }

  async says(pattern: RegExp, timeout = 20_000): Promise<void> {
    await vi.waitFor(() => expect(this.words).toMatch(pattern), timeout);
  }

  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return this.process.exitCode;
    const ended = once(this.process, "exit") as Promise<[number | null]>;
    this.process.kill(signal);
    return (await ended)[0];
  }
}

const commands: Command[] = [];
let service: Service;
let receiver: LocalReceiver;
let client: Client;

beforeAll(async () => {
  receiver = new LocalReceiver();
  await receiver.listen();
  service = await Service.start();
  const { demo } = service;
  await operate(demo, "PATCH", `/merchants/${demo.merchant_id}`, { ...settledLate, rate_limit_per_minute: 10_000_000 });
  client = new Client(demo);
});
afterAll(async () => {
  for (const command of commands) await command.end("SIGKILL");
  await service.discard();
  await receiver.close();
});

const to = (): string[] => ["--forward-to", `http://127.0.0.1:${receiver.port}/hook`];
const received = (): string[] => receiver.received.map(({ event }) => event.id as string);

let number = 0;
/** A payment that is paid: what was acknowledged, as the events that must come of it. */
async function pay(): Promise<string[]> {
  number++;
  const body = { amount_minor: 100_000, currency: "IDR", payment_method: "qris", reference_id: `listen-${number}` };
  const created = await client.post("/v1/payments", body);
  if (created.status !== 201) return [];
  const { reference } = created.json;
  const paid = await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  return [`payment.created ${reference}`, ...(paid.status === 200 ? [`payment.succeeded ${reference}`] : [])];
}

const facts = (): string[] => receiver.received.map(({ event }) => `${event.type} ${event.data.reference}`);

test("every event arrives, none is skipped, whatever is killed or restarted meanwhile", async () => {
  const first = new Command(to());
  await first.says(/^Deliveries are signed with whsec_/m);
  await first.says(/^Ready: events from now on go to http:.*\/hook\. Ctrl-C ends it\.$/m);
  const acknowledged: string[] = [];
  const shop = async (until: () => boolean): Promise<void> => {
    while (!until()) {
      acknowledged.push(...(await pay().catch(() => [])));
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  };
  let over = false;
  const tills = Promise.all([shop(() => over), shop(() => over)]);

  // Killed in the middle of a delivery: it arrived, and the command does not know.
  let killed = 0;
  receiver.onReceipt = async () => {
    if (receiver.received.length < 8 || killed > 0) return;
    killed++;
    await first.end("SIGKILL");
  };
  await vi.waitFor(() => expect(killed).toBe(1), 30_000);
  const interrupted = received().at(-1);
  const before = acknowledged.length;
  await vi.waitFor(() => expect(acknowledged.length).toBeGreaterThan(before + 20), 30_000);
  const second = new Command(to());
  await second.says(/^Ready: resuming after evt_\w+ of \S+Z, (more than )?\d+ events? waiting\./m);
  await vi.waitFor(() => expect(received().filter((id) => id === interrupted)).toHaveLength(2), 30_000);

  // Killed between two deliveries, and at once started again.
  await second.end("SIGKILL");
  const third = new Command([...to(), "--as-sent"]);
  await third.says(/resuming after/);

  // The service is stopped and started while the command listens and the tills go on.
  await service.stop();
  await third.says(/^Lost the service: /m);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  await service.start();
  await third.says(
    /^The service is back: going on after evt_\w+ of \S+Z, (more than )?\d+ events? waiting\.$/m,
    40_000,
  );

  const later = acknowledged.length;
  await vi.waitFor(() => expect(acknowledged.length).toBeGreaterThan(Math.max(later + 10, 40)), 30_000);
  over = true;
  await tills;
  await vi.waitFor(() => expect(acknowledged.filter((fact) => !facts().includes(fact))).toEqual([]), 60_000);

  expect(received().length - new Set(received()).size, "handed on twice").toBeLessThanOrEqual(2); // a kill each, at most
  for (const delivery of receiver.received) {
    expect(delivery.path).toBe("/hook");
    expect(delivery.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(delivery.headers["x-svc-event-id"]).toBe(delivery.event.id);
    expect(delivery.headers["x-svc-delivery-attempt"]).toBe("1");
    const young = Math.abs(delivery.at / 1000 - Number(delivery.headers["x-svc-timestamp"])) < 70;
    expect(young).toBe(true);
  }
  const last = receiver.received.at(-1) as Received;
  expect(isGenuine(last, service.demo.webhook_secret)).toBe(true);

  expect(await third.end("SIGINT")).toBe(0);
  expect(third.lines.split("\n").at(-2)).toMatch(/^\d\d:\d\d:\d\dZ {2}payment\.\w+ +evt_\w{26} {2}200 {2}\d+ ms$/);
  expect(third.lines + third.words).not.toContain("\u001B"); // colours are for terminals
  const kept = join(service.dataDirectory, "listen");
  expect(readdirSync(kept)).toEqual([`${service.demo.client_id}.json`]);
  expect(existsSync(join(kept, `${service.demo.client_id}.lock`))).toBe(false);

  // A program that was mended has an event again, and all that came after it.
  const known = received();
  const from = known.toSorted().at(-4) as string;
  const fourth = new Command([...to(), "--from", from]);
  const wanted = [...new Set(known)].filter((id) => id >= from);
  await vi.waitFor(() => expect(received().slice(known.length)).toEqual(expect.arrayContaining(wanted)), 30_000);
  expect(received().length - known.length).toBeLessThan(wanted.length + 3); // others of the same millisecond
  expect(await fourth.end("SIGINT")).toBe(0);
});

test("a program that is not there yet is waited for; the command ends at once when told to", async () => {
  const absent = new LocalReceiver();
  await absent.listen();
  const { port } = absent;
  await absent.close();
  const command = new Command(["--forward-to", `http://127.0.0.1:${port}/`]);
  await command.says(/resuming after evt_/);
  const wanted = await pay();
  await command.says(
    /^payment\.created evt_\w+ waits: .*nothing accepts connections there\. Trying again, up to 30 s apart, until it answers …$/m,
  );
  const late = new LocalReceiver();
  await late.listen(port);
  await vi.waitFor(() => {
    expect(late.received.map(({ event }) => `${event.type} ${event.data.reference}`)).toEqual(wanted);
  }, 30_000);
  const took = await waiting(async () => expect(await command.end("SIGINT")).toBe(0));
  expect(took).toBeLessThan(2_000 * slowness());
  await late.close();
});

test("it says what it cannot do, and why", async () => {
  const { dataDirectory, demo, url } = service;
  const env = { GERBANG_DATA: dataDirectory };
  const run = (args: string[], more: Record<string, string> = {}): ReturnType<typeof gerbang> =>
    gerbang(["listen", ...args], { ...env, ...more });
  const none = await run([]);
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("--forward-to")]);
  expect((await run(["--forward-to", "ftp://x"])).code).toBe(2);
  const { code, stdout } = await run(["--print-secret"]);
  expect([code, stdout]).toEqual([0, `${listenerSecret(demo.secret)}\n`]);
  const half = await run([...to(), "--client-id", "ak_test_x"]);
  expect([half.code, half.stderr]).toEqual([2, expect.stringContaining("belong together")]);
  const homeless = await run(to(), { GERBANG_DATA: join(dataDirectory, "nowhere") });
  expect([homeless.code, homeless.stderr]).toEqual([1, expect.stringContaining("GERBANG_CLIENT_ID")]);
  const live = await run([...to(), "--client-id", "ak_live_0123456789abcdefghjkmnpqrs", "--secret", "sk_live_x"]);
  expect([live.code, live.stderr]).toEqual([2, expect.stringContaining("sandbox")]);
  const other = { GERBANG_CLIENT_ID: demo.client_id, GERBANG_SECRET: "sk_test_wrong", BASE_URL: `${url}/v1` };
  const wrong = await run(to(), other);
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringMatching(/^SIGNATURE_INVALID: /m)]);
  const running = new Command(to());
  await running.says(/Ready/);
  const twice = await run(to());
  expect([twice.code, twice.stderr]).toEqual([1, expect.stringContaining(`process ${running.process.pid}`)]);
  expect(await running.end("SIGTERM")).toBe(0);
  const file = join(dataDirectory, "listen", `${demo.client_id}.json`);
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ client_id: demo.client_id });
});
