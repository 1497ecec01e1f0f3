// Goal: every shop of examples/samples.json sells. Method: each runs by its line of the table, as `samples` runs it; someone buys, the payment is
// simulated, and the page turns to paid by the webhook. A language or framework that is not on the machine is skipped.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Answer, Client, operate, settledLate } from "./kit/client.ts";
import { environmentOf } from "./kit/client-story.ts";
import { Front, Programs, agrees, folderOf, node, php, python } from "./kit/example.ts";
import { makeCertificates } from "./kit/receiver.ts";
import { Service } from "./kit/service.ts";

interface Sample {
  folder: string;
  command: string[];
  env: Record<string, string>;
  port: number;
  webhook: string;
  needs: string;
}
const samples = JSON.parse(readFileSync(folderOf("samples.json"), "utf8")) as Record<string, Sample>;
const programs: Record<string, string[]> = { node, python3: [python], php: [php] };
const isThere: Record<string, boolean> = {
  flask: agrees(python, "-c", "import flask"),
  php: agrees(php, "-r", "exit(PHP_VERSION_ID >= 80000 && extension_loaded('pdo_sqlite') ? 0 : 1);"),
};

let place: string;
let service: Service;
let front: Front;
let client: Client;
let webhookSecret: string;

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), "gerbang-samples-"));
  const certificates = await makeCertificates();
  service = await Service.start({
    env: { WEBHOOK_ALLOW_HOSTS: "localhost", NODE_EXTRA_CA_CERTS: certificates.caFile },
  });
  front = await Front.start(certificates);
  client = new Client(service.demo);
  await operate(service.demo, "PATCH", `/merchants/${service.demo.merchant_id}`, settledLate);
  const at = { environment: "sandbox", url: `${front.url}/webhooks` };
  const registered = await operate(service.demo, "PUT", `/merchants/${service.demo.merchant_id}/webhook`, at);
  webhookSecret = registered.webhook_secret as string;
});
afterAll(async () => {
  await service.discard();
  await front.close();
  rmSync(place, { recursive: true, force: true });
});

/** The shop, and the same one with a secret that is wrong. */
interface Running {
  shop: Programs;
  wrong: Programs;
}

function commandAt({ command, port }: Sample, free: number): string[] {
  const [program = "", ...args] = command;
  return [...(programs[program] ?? [program]), ...args.map((each) => each.replace(String(port), String(free)))];
}

const environment = ({ env }: Sample): Record<string, string> => ({
  ...env,
  ...environmentOf(service),
  GERBANG_WEBHOOK_SECRET: webhookSecret,
});

async function start(name: string, sample: Sample): Promise<Running> {
  const run = (database: string, own: Record<string, string> = {}): Promise<Programs> =>
    Programs.start(folderOf(`../${sample.folder}`), (free) => [commandAt(sample, free)], {
      ...environment(sample),
      ...own,
      DATABASE: join(place, database),
    });
  const [shop, wrong] = await Promise.all([
    run(`${name}.sqlite`),
    run(`${name}-wrong.sqlite`, { GERBANG_SECRET: "sk_test_of_somebody_else" }),
  ]);
  return { shop, wrong };
}

for (const [name, sample] of Object.entries(samples)) {
  const { webhook } = sample;
  describe.runIf(isThere[name] ?? true)(`the shop with ${name}`, () => {
    let running: Running;
    beforeAll(async () => {
      running = await start(name, sample);
      front.target = running.shop.port;
    });
    afterAll(() => Promise.all([running.shop.stop(), running.wrong.stop()]));

    test("sells a coffee: leads to the page where it is paid, and turns to paid by the webhook, and by nothing else", async () => {
      const url = `http://127.0.0.1:${running.shop.port}`;
      const shown = async (path: string): Promise<string> => (await fetch(url + path)).text();
      const press = async (page: string): Promise<{ order: string; payAt: string }> => {
        const [, order = ""] = /<form method="post" action="(\/orders\/[\w-]+)"><button>/.exec(await shown(page)) ?? [];
        const answer = await fetch(url + order, { method: "POST", body: new URLSearchParams(), redirect: "manual" });
        expect(answer.status, await answer.text()).toBe(303);
        return { order, payAt: answer.headers.get("location") ?? "" };
      };
      const { order, payAt } = await press("/");
      // Pressed again: the same payment.
      expect(await press(order)).toEqual({ order, payAt });
      const id = order.replace("/orders/", "");
      const { json } = await client.get(`/v1/payments?reference_id=${id}`);
      const [payment, ...more] = json.data;
      expect(more).toEqual([]);
      expect(payment).toMatchObject({ amount_minor: 7_500_000, payment_method: "qris", status: "pending" });
      const page = await fetch(payAt);
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(payment.reference)]);
      const event = JSON.stringify({
        id: "evt_1",
        type: "payment.succeeded",
        data: { reference_id: id, status: "succeeded" },
      });
      const headers = { "x-svc-timestamp": String(Math.floor(Date.now() / 1000)), "x-svc-signature": "0".repeat(64) };
      expect((await fetch(url + webhook, { method: "POST", headers, body: event })).status).toBe(401);
      expect(await shown(order)).toContain("Waiting for Rp75.000.");
      await client.post(`/v1/sandbox/payments/${payment.reference}/simulate`, { outcome: "succeeded" });
      const turns = (at: string, words: string): Promise<void> =>
        vi.waitFor(async () => expect(await shown(at)).toContain(words), { timeout: 30_000, interval: 50 });
      await turns(order, "Paid.");
      // The page where it was paid leads back to the order.
      const back = `data-back="http://localhost:${running.shop.port}${order}"`;
      expect(await (await fetch(payAt)).text()).toContain(back);

      const declined = await press("/");
      const found = await client.get(`/v1/payments?reference_id=${declined.order.replace("/orders/", "")}`);
      await client.post(`/v1/sandbox/payments/${found.json.data[0].reference}/simulate`, { outcome: "failed" });
      await turns(declined.order, 'Not paid. <a href="/">');
      for (const absent of ["/orders/order-unknown", `/orders/order-${"0".repeat(32)}`])
        expect((await fetch(url + absent)).status).toBe(404);
      expect((await fetch(`${url}/orders/mine`, { method: "POST" })).status).toBe(404);
    });

    test("fails at a port that is taken, and names no address there", async () => {
      const taken = Programs.finish(folderOf(`../${sample.folder}`), commandAt(sample, running.shop.port), {
        ...environment(sample),
        PORT: String(running.shop.port),
        DATABASE: join(place, `${name}-taken.sqlite`),
      });
      await expect(taken).rejects.toMatchObject({
        code: expect.any(Number),
        stdout: expect.not.stringContaining("http"),
      });
    });

    test("sees that an order is paid when somebody presses again, though the webhook was lost", async () => {
      const url = `http://127.0.0.1:${running.shop.port}`;
      const shown = async (path: string): Promise<string> => (await fetch(url + path)).text();
      const [, order = ""] = /<form method="post" action="(\/orders\/[\w-]+)"><button>/.exec(await shown("/")) ?? [];
      const press = async (): Promise<string> =>
        (await fetch(url + order, { method: "POST", body: new URLSearchParams(), redirect: "manual" })).headers.get(
          "location",
        ) ?? "";
      expect(await press()).toContain("/pay/");
      const id = order.replace("/orders/", "");
      const { json } = await client.get(`/v1/payments?reference_id=${id}`);
      await client.post(`/v1/sandbox/payments/${json.data[0].reference}/simulate`, { outcome: "succeeded" });
      await vi.waitFor(async () => expect(await shown(order)).toContain("Paid."), { timeout: 30_000, interval: 50 });
      const refund = (amount: number): Promise<Answer> =>
        client.post("/v1/refunds", { payment_reference: json.data[0].reference, amount_minor: amount });
      const orders = new DatabaseSync(join(place, `${name}.sqlite`), { timeout: 5_000 });
      for (const [goesBack, words] of [
        [0, "Paid."],
        [1_000_000, "Paid."],
        [6_500_000, "Not paid."],
      ] as const) {
        if (goesBack > 0) expect((await refund(goesBack)).json.status).toBe("succeeded");
        // As if the webhook had not come.
        orders.prepare("update orders set status = 'open' where id = ?").run(id);
        expect(await shown(order)).toContain("Waiting for Rp75.000.");
        expect(await press()).toContain(order);
        expect(await shown(order)).toContain(words);
      }
      orders.close();
    });

    test("says that payment is not possible, where the service refuses it, and shows nobody why", async () => {
      const { wrong } = running;
      const shop = `http://127.0.0.1:${wrong.port}`;
      const [, order = ""] = /action="([\w/-]+)"/.exec(await (await fetch(shop)).text()) ?? [];
      const refused = await fetch(shop + order, { method: "POST", body: new URLSearchParams() });
      expect(refused.status).toBe(502);
      const page = await refused.text();
      expect(page).toContain("Payment is not possible now.");
      expect(page).not.toContain("SIGNATURE_INVALID");
      await vi.waitFor(() => expect(wrong.lines.join("\n")).toContain("SIGNATURE_INVALID"), 30_000);
      expect(wrong.lines.join("\n")).not.toContain("sk_test_of_somebody_else");
    });
  });
}
