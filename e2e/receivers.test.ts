// Goal: every receiver of examples/receivers can be trusted as it is copied. Method: each runs behind TLS, sits the exam, takes a real payment, and is
// sent forged, repeated and overtaken events; it is killed between them. A language or framework that is not on the machine is skipped.
import { createHmac } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { newId } from "../gateway/src/ground/ids.ts";
import { Client, operate } from "./kit/client.ts";
import { Front, Programs, agrees, clients, folderOf, node, php, python } from "./kit/example.ts";
import { makeCertificates } from "./kit/receiver.ts";
import { Service } from "./kit/service.ts";

const kit = (name: string): string => fileURLToPath(new URL(`kit/${name}`, import.meta.url));
const phpClient = [php, "-d", `include_path=${clients.php}`];
const hasFlask = agrees(python, "-c", "import flask");
const laravel = process.env.GERBANG_TEST_LARAVEL ?? "/usr/share/php"; // where Debian's php-laravel-framework puts it
/** A copy of receivers/next, installed and built; without one its route is called as Next's server would call it. */
const next = process.env.GERBANG_TEST_NEXT;
const nextServer = (folder: string): string[] => [
  process.execPath,
  join(folder, "node_modules/next/dist/bin/next"),
  "start",
  folder,
  "--hostname",
  "127.0.0.1",
];
const hasLaravel =
  "exit(extension_loaded('pdo_sqlite') && stream_resolve_include_path('Illuminate/autoload.php') ? 0 : 1);";
const artisan = [php, "-d", `include_path=${clients.php}:${laravel}`, kit("laravel.php")];

interface Receiver {
  /** In examples/receivers. */
  folder: string;
  /** False where the machine lacks what it needs. */
  isThere: boolean;
  /** What runs together, the server and its worker. */
  commands: (port: number) => string[][];
  /** What runs before it, once. */
  prepare?: string[];
  path?: string;
  /** True where it reads its secret with each delivery; the others do not start without one. */
  isLate?: boolean;
}
const javaScript = (folder: string, ...program: string[]): Receiver => ({
  folder,
  isThere: true,
  commands: () => [[...node, ...program]],
});
const receivers: Record<string, Receiver> = {
  Express: javaScript("express", "receiver.js"),
  Fastify: javaScript("fastify", "receiver.js"),
  Hono: javaScript("hono", "receiver.js"),
  Next:
    next === undefined
      ? { ...javaScript("next", kit("next-route.ts"), folderOf("receivers/next")), isLate: true }
      : { ...javaScript("next"), isLate: true, commands: (port) => [[...nextServer(next), "--port", String(port)]] },
  Flask: {
    folder: "flask",
    isThere: hasFlask,
    commands: () => [
      [python, "receiver.py"],
      [python, "inbox.py"],
    ],
  },
  "Python's own server": {
    folder: "flask",
    isThere: !hasFlask && agrees(python, "-c", "import sqlite3, sys; sys.exit(sqlite3.sqlite_version_info < (3, 35))"),
    commands: () => [
      [python, kit("receive.py")],
      [python, "inbox.py"],
    ],
  },
  Django: {
    folder: "django",
    isThere: agrees(python, "-c", "import django, sys; sys.exit(django.VERSION < (5, 1))"),
    prepare: [python, "manage.py", "migrate", "--run-syncdb", "--verbosity=0"],
    commands: (port) => [
      [python, "manage.py", "runserver", "--noreload", `127.0.0.1:${port}`],
      [python, "manage.py", "work"],
    ],
  },
  PHP: {
    folder: "php",
    isThere: agrees(php, "-r", "exit(PHP_VERSION_ID >= 80100 && extension_loaded('pdo_sqlite') ? 0 : 1);"),
    commands: (port) => [
      [...phpClient, "-S", `127.0.0.1:${port}`, "receiver.php"],
      [...phpClient, "worker.php"],
    ],
    isLate: true,
  },
  Laravel: {
    folder: "laravel",
    isThere: agrees(php, "-d", `include_path=${laravel}`, "-r", hasLaravel),
    prepare: [...artisan, "migrate", "--force", "--quiet"],
    commands: (port) => [
      [...artisan.slice(0, 3), "-S", `127.0.0.1:${port}`, kit("laravel.php")],
      [...artisan, "queue:work", "database", "--sleep=0.2", "--quiet"],
    ],
    path: "/api/webhooks",
    isLate: true,
  },
};

let service: Service;
let front: Front;
let client: Client;
let secret: string;
let place: string;

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), "gerbang-receivers-"));
  const certificates = await makeCertificates();
  const env = { WEBHOOK_ALLOW_HOSTS: "localhost", NODE_EXTRA_CA_CERTS: certificates.caFile };
  service = await Service.start({ env, timing: { delivery: { slowBodyMs: 600 } } });
  front = await Front.start(certificates);
  client = new Client(service.demo);
});
afterAll(async () => {
  await service.discard();
  await front.close();
  rmSync(place, { recursive: true, force: true });
});

/** Sends a delivery of an event past TLS, and gives what is answered. */
async function tell(url: string, event: { type: string; order: string; at: number; id?: string }, key = secret) {
  const { type, order, at, id = newId("event", at * 1000) } = event;
  const data = { reference: `pay_${order}`, reference_id: order, status: type.split(".")[1] };
  const body = JSON.stringify({ id, type, created_at: `${new Date(at).toISOString().slice(0, 19)}Z`, data });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", key).update(`${timestamp}.${body}`).digest("hex");
  const headers = {
    "content-type": "application/json",
    "x-svc-timestamp": timestamp,
    "x-svc-signature": signature,
  };
  const { status } = await fetch(url, { method: "POST", headers, body });
  return status;
}

/** Writes to an inbox for a moment, as the program does that was started together with a receiver. What is given is when it has ended. */
function writing(inbox: string): { ended: Promise<void> } {
  const database = new DatabaseSync(inbox);
  database.exec(
    "create table if not exists others (id integer primary key); begin immediate; insert into others default values",
  );
  const end = (): void => {
    database.exec("commit");
    database.close();
  };
  return { ended: sleep(400).then(end) };
}

for (const [name, { folder, isThere, commands, prepare, path = "/webhooks", isLate = false }] of Object.entries(
  receivers,
)) {
  describe.runIf(isThere)(`the receiver for ${name}`, () => {
    const slug = name.toLowerCase().replaceAll(/\W+/g, "-");
    let programs: Programs;
    let env: Record<string, string>;
    /** Only the server, or its worker as well. For JavaScript they are one. */
    const run = async (what: "server" | "all"): Promise<void> => {
      const made = (port: number): string[][] => commands(port).slice(0, what === "server" ? 1 : undefined);
      programs = await Programs.start(folderOf(`receivers/${folder}`), made, env);
      front.target = programs.port;
    };

    beforeAll(async () => {
      const at = { environment: "sandbox", url: `${front.url}${path}` };
      const registered = await operate(service.demo, "PUT", `/merchants/${service.demo.merchant_id}/webhook`, at);
      secret = registered.webhook_secret as string;
      env = {
        GERBANG_WEBHOOK_SECRET: `whsec_b2xk, ${secret}`,
        INBOX: join(place, `${slug}.sqlite`),
        PYTHONPATH: `${clients.python}:${folderOf(`receivers/${folder}`)}`,
        LARAVEL_EXAMPLE: folderOf(`receivers/${folder}`),
        LARAVEL_BASE: join(place, "laravel"),
      };
      if (prepare !== undefined) expect(await Programs.finish(folderOf(`receivers/${folder}`), prepare, env)).toBe("");
      const { ended } = writing(env.INBOX ?? "");
      await run("all");
      await ended;
    });
    afterAll(() => programs.stop());

    test("passes the exam, and works off a real payment", async () => {
      const order = `order-${slug}-real`;
      const payment = { amount_minor: 150_000, currency: "IDR", payment_method: "qris", reference_id: order };
      const { json } = await client.post("/v1/payments", payment);
      await client.post(`/v1/sandbox/payments/${json.reference}/simulate`, { outcome: "succeeded" });
      await programs.says(`paid: ${order}`);
      const exam = await client.post("/v1/sandbox/webhook/exam", {});
      expect(exam.json.checks.filter((check: { passed: boolean }) => !check.passed)).toEqual([]);
      expect(exam.json.passed).toBe(true);
    });

    test(
      "takes each event once, whether copies come together or after a crash, and nothing forged or overtaken",
      {
        timeout: 150_000,
      },
      async () => {
        const now = Math.floor(Date.now() / 1000) * 1000;
        const url = (): string => `http://127.0.0.1:${programs.port}${path}`;
        const order = (what: string): string => `${slug}-${what}`;
        const forged = { type: "payment.succeeded", order: order("forged"), at: now };
        expect(await tell(url(), forged, "whsec_c3RyYW5nZXI=")).toBe(401);
        // Newer states are known: by a second, and within one by the identity.
        expect(await tell(url(), { type: "payment.canceled", order: order("overtaken"), at: now })).toBe(200);
        expect(await tell(url(), { type: "payment.succeeded", order: order("overtaken"), at: now - 5_000 })).toBe(200);
        expect(await tell(url(), { type: "payment.failed", order: order("overtaken-at-once"), at: now + 700 })).toBe(
          200,
        );
        const before = { type: "payment.succeeded", order: order("overtaken-at-once"), at: now + 300 };
        expect(await tell(url(), before)).toBe(200);
        // A payment that was paid is paid, though the clock of whoever said so was behind.
        expect(await tell(url(), { type: "payment.processing", order: order("late-clock"), at: now })).toBe(200);
        expect(await tell(url(), { type: "payment.succeeded", order: order("late-clock"), at: now - 1_000 })).toBe(200);
        expect(await tell(url(), { type: "payment.processing", order: order("late-clock"), at: now + 2_000 })).toBe(
          200,
        );
        expect(await tell(url(), { type: "payment.unheard_of", order: order("unknown"), at: now })).toBe(200);
        expect(await tell(url(), { type: "payment.succeeded", order: order("unknown"), at: now - 5_000 })).toBe(200);
        const event = { type: "payment.succeeded", order: order("once"), at: now, id: newId("event", now * 1000) };
        const copies = await Promise.all(Array.from({ length: 8 }, () => tell(url(), event)));
        expect(copies).toEqual(Array.from(copies, () => 200));
        await programs.says(`paid: ${order("once")}`);
        await programs.says(`paid: ${order("unknown")}`);
        await programs.says(`paid: ${order("late-clock")}`);
        const said = programs.lines;
        await programs.stop();
        await run("server");
        expect(await tell(url(), event)).toBe(200);
        // What is answered is kept, though nothing works it off any more.
        expect(await tell(url(), { type: "payment.succeeded", order: order("last"), at: now })).toBe(200);
        await programs.stop();
        said.push(...programs.lines);
        await run("all");
        // Where the crash came between taking it up and saying so, it is taken up again after a minute.
        await vi.waitFor(() => expect([...said, ...programs.lines]).toContain(`paid: ${order("last")}`), 75_000);
        const paid = [...said, ...programs.lines].filter((line) => line.startsWith(`paid: ${slug}-`));
        expect(paid.toSorted()).toEqual([
          `paid: ${order("last")}`,
          `paid: ${order("late-clock")}`,
          `paid: ${order("once")}`,
          `paid: ${order("unknown")}`,
        ]);
      },
    );

    test.runIf(isLate)(
      "accepts nothing where it has no secret, not even what is signed with an empty one",
      async () => {
        await programs.stop();
        env.GERBANG_WEBHOOK_SECRET = "";
        await run("server");
        const event = { type: "payment.succeeded", order: `${slug}-without-secret`, at: Date.now() };
        expect(await tell(`http://127.0.0.1:${programs.port}${path}`, event, "")).toBe(500);
      },
    );
  });
}

test("what the receivers for JavaScript keep is kept by one and the same file, and no folder needs another", () => {
  const inboxes = ["express", "fastify", "hono", "next"].map((folder) => `${folderOf("receivers")}/${folder}/inbox.js`);
  const [first, ...others] = inboxes.map((path) => readFileSync(path, "utf8"));
  for (const other of others) expect(other).toBe(first);
});
