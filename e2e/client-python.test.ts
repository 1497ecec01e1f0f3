// Goal: the client for Python does what the vectors say, and all of the API with a running service; its examples work. Method: the machine's
// python3 runs its driver, its story and the examples; skipped where there is no Python of 3.9 or later.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Client } from "./kit/client.ts";
import { testShop } from "./kit/client-shop.ts";
import { environmentOf, testStory } from "./kit/client-story.ts";
import { run, testVectors, testWholeness } from "./kit/client-vectors.ts";

const python = process.env.GERBANG_TEST_PYTHON ?? "python3";
const isThere = spawnSync(python, ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]).status === 0;
const folder = fileURLToPath(new URL("../clients/python", import.meta.url));

describe.runIf(isThere)("the client for Python", () => {
  testVectors([python, join(folder, "test/driver.py")]);
  testWholeness(join(folder, "gerbang.py"), join(folder, "README.md"), (code) =>
    run([python, "-c", "import ast, sys; ast.parse(sys.stdin.read())"], code),
  );
  const service = testStory([python, join(folder, "test/story.py")], "python");

  describe("its examples", () => {
    let place: string;
    beforeAll(() => {
      place = mkdtempSync(join(tmpdir(), "gerbang-python-"));
    });
    afterAll(() => rmSync(place, { recursive: true, force: true }));
    const environment = (): NodeJS.ProcessEnv => ({
      ...process.env,
      ...environmentOf(service()),
      PYTHONPATH: folder,
      PYTHONDONTWRITEBYTECODE: "1",
    });

    test("reconcile.py names what its file and the day's payments disagree about, and nothing else", async () => {
      const client = new Client(service().demo);
      const order = { amount_minor: 7_500_000, currency: "IDR", payment_method: "va" };
      const paid = { ...order, metadata: { "sandbox.scenario": "auto_success" } };
      const { json } = await client.get("/v1/sandbox/clock");
      const day = String(json.now).slice(0, 10);
      const paidOf = async (status: string): Promise<{ reference_id: string; amount_minor: number }[]> =>
        (await client.get(`/v1/payments?limit=100&created_from=${day}&status=${status}`)).json.data;
      const { reference } = (await client.post("/v1/payments", { ...paid, reference_id: "reconcile-1" })).json;
      await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
      const known = [...(await paidOf("succeeded")), ...(await paidOf("partially_refunded"))];
      const lines = known.map((one) => `${one.reference_id},${one.amount_minor}`);
      const reconcile = (...own: string[]): { status: number | null; stdout: string; stderr: string } => {
        writeFileSync(join(place, "orders.csv"), `reference_id,amount_minor\n${own.join("\n")}\n`);
        const args = [join(folder, "examples/reconcile.py"), join(place, "orders.csv"), day];
        return spawnSync(python, args, { env: environment(), encoding: "utf8" });
      };
      const agreed = reconcile(...lines);
      expect(agreed.stdout + agreed.stderr).toContain("Everything agrees.");
      expect(agreed.status).toBe(0);
      const differing = reconcile(...lines.filter((line) => !line.startsWith("reconcile-1")), "reconcile-2,5");
      expect(differing.status).toBe(1);
      expect(differing.stdout).toContain(`reconcile-1: ${reference} was paid, 7500000 IDR, and you have no such order`);
      expect(differing.stdout).toContain("reconcile-2: you hold it for paid");
    });

    testShop((port) => ({
      command: [python, join(folder, "examples/shop.py")],
      env: { ...environment(), SHOP_PORT: String(port), SHOP_DATABASE: join(place, "shop.sqlite") },
      webhookSecret: service().demo.webhook_secret,
    }));
  });
});
