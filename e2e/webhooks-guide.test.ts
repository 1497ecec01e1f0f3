// Goal: whoever follows the guide to webhooks has a correct receiver. Method: its vectors are computed again, its receiver is
// run as printed behind TLS and sits the exam, and its commands are typed.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as allOf } from "node:stream/consumers";
import tls from "node:tls";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { eventTypes } from "../gateway/src/events/event.ts";
import { newId } from "../gateway/src/ground/ids.ts";
import { checks } from "../gateway/src/diagnostics/receiver-checks.ts";
import { Client, operate } from "./kit/client.ts";
import { makeCertificates } from "./kit/receiver.ts";
import { Service, freePort } from "./kit/service.ts";

const text = readFileSync(new URL("../docs/guides/webhooks.md", import.meta.url), "utf8");
const blocks = (language: string): string[] =>
  [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].map(([, block]) => block ?? "");

test("the vectors are right, to the byte", () => {
  const [secret = "", signature, standard] = blocks("text").map((block) => block.trim());
  const body = blocks("json")[0]?.trimEnd() ?? "";
  expect(Buffer.byteLength(body)).toBe(293);
  const hmac = (key: string | Buffer, signed: string): Buffer => createHmac("sha256", key).update(signed).digest();
  expect(hmac(secret, `1795246942.${body}`).toString("hex")).toBe(signature);
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const { id } = JSON.parse(body) as { id: string };
  expect(`v1,${hmac(key, `${id}.1795246942.${body}`).toString("base64")}`).toBe(standard);
});

test("every paragraph that the exam names stands in the guide, under its heading", () => {
  for (const { guide } of Object.values(checks)) {
    const heading = guide.anchor.replaceAll("-", " ");
    const section = text.split(/^### /m).find((part) => part.toLowerCase().replaceAll(",", "").startsWith(heading));
    expect(section, guide.anchor).toContain(guide.text);
  }
});

test("every type of event is listed, with when it is sent", () => {
  const listed = [...text.matchAll(/^\| `(\w+\.\w+)` \| \S.*\|$/gm)].map(([, type]) => type);
  expect(listed).toEqual([...eventTypes]);
});

describe("the receiver as printed", () => {
  let place: string;
  let service: Service;
  let receiver: ChildProcess;
  let front: tls.Server;
  let client: Client;
  let said = "";
  let inside: string;
  let secret: string;

  beforeAll(async () => {
    place = mkdtempSync(join(tmpdir(), "gerbang-receiver-"));
    const certificates = await makeCertificates();
    const env = { WEBHOOK_ALLOW_HOSTS: "localhost", NODE_EXTRA_CA_CERTS: certificates.caFile };
    service = await Service.start({ env, timing: { delivery: { slowBodyMs: 600 } } });
    const port = await freePort();
    front = tls.createServer({ key: certificates.key, cert: certificates.cert }, (socket) => {
      const inner = connect(port, "127.0.0.1");
      socket.pipe(inner).pipe(socket);
      for (const end of [socket, inner]) end.on("error", () => socket.destroy());
    });
    await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
    inside = `http://127.0.0.1:${port}/`;
    const registered = await operate(service.demo, "PUT", `/merchants/${service.demo.merchant_id}/webhook`, {
      environment: "sandbox",
      url: `https://localhost:${(front.address() as AddressInfo).port}/`,
    });
    secret = registered.webhook_secret as string;
    writeFileSync(join(place, "receiver.mjs"), blocks("js")[0] ?? "");
    receiver = spawn(process.execPath, [join(place, "receiver.mjs")], {
      env: { PORT: String(port), GERBANG_WEBHOOK_SECRET: secret },
      stdio: ["ignore", "pipe", "inherit"],
    });
    receiver.stdout?.setEncoding("utf8").on("data", (part: string) => void (said += part));
    await vi.waitFor(
      () =>
        new Promise<void>((resolve, reject) => {
          const probe = connect(port, "127.0.0.1", () => resolve(void probe.end()));
          probe.on("error", reject);
        }),
      { timeout: 30_000, interval: 100 },
    );
    client = new Client(service.demo);
  });
  afterAll(async () => {
    receiver.kill();
    front.close();
    await service.discard();
    rmSync(place, { recursive: true, force: true });
  });

  test("takes a real event", async () => {
    const { json } = await client.post("/v1/payments", {
      amount_minor: 150_000,
      currency: "IDR",
      payment_method: "qris",
      reference_id: "guide-1",
    });
    await client.post(`/v1/sandbox/payments/${json.reference}/simulate`, { outcome: "succeeded" });
    await vi.waitFor(() => expect(said).toContain("paid: guide-1"), { timeout: 30_000, interval: 100 });
  });

  test("answers an older event that comes late, or one of a type it does not know, with 2xx, and ignores it", async () => {
    const now = Date.now();
    const tell = async (type: string, order: string, at: number): Promise<number> => {
      const data = { reference: `pay_${order}`, reference_id: order, status: type.split(".")[1] };
      const created = `${new Date(at).toISOString().slice(0, 19)}Z`;
      const body = JSON.stringify({ id: newId("event", at * 1000), type, created_at: created, data });
      const timestamp = String(Math.floor(now / 1000));
      const signature = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
      const headers = { "x-svc-timestamp": timestamp, "x-svc-signature": signature };
      return (await fetch(inside, { method: "POST", headers, body })).status;
    };
    const second = Math.floor(now / 1000) * 1000;
    expect(await tell("payment.canceled", "late-by-seconds", second)).toBe(200);
    expect(await tell("payment.succeeded", "late-by-seconds", second - 5_000)).toBe(200);
    expect(await tell("payment.failed", "late-by-moments", second + 700)).toBe(200);
    expect(await tell("payment.succeeded", "late-by-moments", second + 300)).toBe(200);
    expect(await tell("payment.processing", "after-another-clock", second)).toBe(200);
    expect(await tell("payment.succeeded", "after-another-clock", second - 1_000)).toBe(200);
    expect(await tell("payment.unheard_of", "after-the-unknown", second)).toBe(200);
    expect(await tell("payment.succeeded", "after-the-unknown", second - 5_000)).toBe(200);
    await vi.waitFor(() => expect(said).toContain("paid: after-the-unknown"), { timeout: 30_000, interval: 50 });
    expect(said).toContain("paid: after-another-clock");
    expect(said).not.toContain("paid: late");
  });

  test("does not start without a secret: by an empty key everybody could sign", () => {
    for (const unset of [{}, { GERBANG_WEBHOOK_SECRET: "" }]) {
      const started = spawnSync(process.execPath, [join(place, "receiver.mjs")], {
        env: { PORT: "0", ...unset },
        timeout: 60_000,
        encoding: "utf8",
      });
      expect([started.status, started.stderr]).toEqual([1, expect.stringContaining("Set GERBANG_WEBHOOK_SECRET")]);
    }
  });

  test("passes the exam", async () => {
    const { status, json } = await client.post("/v1/sandbox/webhook/exam", {});
    expect(status).toBe(200);
    expect(json.checks.filter((check: { passed: boolean }) => !check.passed)).toEqual([]);
    expect(json.passed).toBe(true);
  });

  test.runIf(spawnSync("curl", ["--version"]).status === 0 && spawnSync("openssl", ["version"]).status === 0)(
    "the commands run as printed",
    async () => {
      const { json } = await client.get("/v1/events?limit=1");
      const [call = ""] = [
        ...readFileSync(new URL("../docs/guides/getting-started.md", import.meta.url), "utf8").matchAll(
          /^call\(\) \{[\s\S]*?^\}$/gm,
        ),
      ].map(([block]) => block);
      // The signature of an empty body is that of its second, and counts once.
      const nextSecond = 'now=$(date +%s); while [ "$(date +%s)" = "$now" ]; do sleep 0.05; done';
      const script = [
        "set -e",
        call,
        `EVENT=${json.data[0].id}`,
        ...blocks("sh").map((block) => block.replaceAll("\n", `\necho\n${nextSecond}\n`)),
      ];
      const { demo } = service;
      const shell = spawn("bash", ["-c", script.join("\n")], {
        env: { ...process.env, BASE_URL: demo.base_url, CLIENT_ID: demo.client_id, SECRET: demo.secret },
        stdio: ["ignore", "pipe", "inherit"],
      });
      const [stdout, [status]] = await Promise.all([allOf(shell.stdout), once(shell, "exit")]);
      expect(status, stdout).toBe(0);
      // The receiver was there for the exam among the commands.
      expect(stdout).toContain('"passed":true');
      expect(stdout).not.toContain('"passed":false');
      expect(stdout).not.toContain('"error"');
      expect(stdout).toContain('"resent":');
      expect(stdout).toContain('"mode":"duplicate"');
    },
  );
});
