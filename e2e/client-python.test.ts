// Goal: the client for Python does what the vectors say, and all of the API with a running service; its example works. Method: the machine's
// python3 runs its driver, its story and the example; skipped where there is no Python of 3.9 or later.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testShop } from "./kit/client-shop.ts";
import { environmentOf, testStory } from "./kit/client-story.ts";
import { run, testHostile, testVectors, testWholeness } from "./kit/client-vectors.ts";

const python = process.env.GERBANG_TEST_PYTHON ?? "python3";
const isThere = spawnSync(python, ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]).status === 0;
const folder = fileURLToPath(new URL("../clients/python", import.meta.url));

describe.runIf(isThere)("the client for Python", () => {
  testVectors([python, join(folder, "test/driver.py")]);
  testHostile([python, join(folder, "test/driver.py")]);
  test("refuses names of metadata that are numbers, which would be sent as texts", async () => {
    const code = `from gerbang import Gerbang, GerbangError
try:
    order = {"amount_minor": 1, "currency": "IDR", "payment_method": "qris", "reference_id": "order-1001"}
    Gerbang("ak_test_1", "sk_test_1", "http://127.0.0.1:9").payments.create(**order, metadata={1001: "x"}, deadline=0)
except GerbangError as error:
    print(error.code, error.message, error.details["value"])`;
    const environment = { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" };
    expect(await run([python, "-c", code], "", environment)).toBe(
      "VALIDATION_ERROR metadata.1001: must be a string 1001\n",
    );
  });
  test("its types of payments and refunds name every field of the contract", async () => {
    const code =
      "import json, gerbang; print(json.dumps([sorted(one.__annotations__) for one in (gerbang.Payment, gerbang.Refund)]))";
    const named = await run([python, "-c", code], "", { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" });
    const contract = JSON.parse(readFileSync(join(folder, "../../openapi/merchant.json"), "utf8")) as {
      components: { schemas: Record<string, { properties?: object }> };
    };
    const fieldsOf = (...schemas: string[]): string[] =>
      [...new Set(schemas.flatMap((name) => Object.keys(contract.components.schemas[name]?.properties ?? {})))].sort();
    expect(JSON.parse(named)).toEqual([
      fieldsOf("Payment", "CreatedPayment", "CanceledPayment", "PaymentEventData"),
      fieldsOf("Refund", "CreatedRefund"),
    ]);
  });
  testWholeness(join(folder, "gerbang.py"), join(folder, "README.md"), (code) =>
    run([python, "-c", "import ast, sys; ast.parse(sys.stdin.read())"], code),
  );
  const service = testStory([python, join(folder, "test/story.py")], "python");

  describe("its example", () => {
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

    testShop((port) => ({
      command: [python, join(folder, "examples/shop.py")],
      env: { ...environment(), SHOP_PORT: String(port), SHOP_DATABASE: join(place, "shop.sqlite") },
      webhookSecret: service().demo.webhook_secret,
    }));
  });
});
