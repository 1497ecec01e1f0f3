// A test of the example shop of a client in another language: the shop sells a coffee, and its webhook marks the order as paid.
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { expect, test, vi } from "vitest";
import { freePort } from "./service.ts";

/** Tests a shop. `start` gives its command, its environment and its webhook secret; the shop must listen on the given port of 127.0.0.1. */
export function testShop(
  start: (port: number) => { command: readonly string[]; env: NodeJS.ProcessEnv; webhookSecret: string },
): void {
  test("the shop sells a coffee: its order leads to the payment's page, and the webhook marks it as paid, once", async () => {
    const port = await freePort();
    const { command, env, webhookSecret } = start(port);
    const [program = "", ...args] = command;
    const shop = spawn(program, args, { env, stdio: "ignore" });
    const exited = once(shop, "exit");
    const page = `http://127.0.0.1:${port}`;
    try {
      const shown = async (): Promise<string> => (await fetch(page)).text();
      await vi.waitFor(shown, { timeout: 30_000, interval: 50 });
      const ordered = await fetch(`${page}/orders`, { method: "POST", redirect: "manual" });
      expect(ordered.status, await ordered.text()).toBe(303);
      expect(ordered.headers.get("location")).toContain("/pay/");
      const [, id = ""] = /(order-\w+): open/.exec(await shown()) ?? [];
      expect(id).not.toBe("");
      const data = { reference: "pay_1", reference_id: id };
      const body = JSON.stringify({ id: "evt_1", type: "payment.succeeded", data });
      const told = async (secret: string): Promise<number> => {
        const timestamp = String(Math.floor(Date.now() / 1000));
        const signature = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
        const headers = { "x-svc-timestamp": timestamp, "x-svc-signature": signature };
        return (await fetch(`${page}/webhooks`, { method: "POST", headers, body })).status;
      };
      expect(await told("whsec_of_somebody_else")).toBe(401);
      expect(await shown()).toContain(`${id}: open`);
      for (const _ of [1, 2]) expect(await told(webhookSecret)).toBe(200);
      expect(await shown()).toContain(`${id}: paid`);
    } finally {
      shop.kill();
      await exited;
    }
  });
}
