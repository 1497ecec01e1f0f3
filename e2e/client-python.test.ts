// Goal: the client for Python does what the vectors say, and all of the API with a running service; its example works. Method: the machine's
// python3 runs its driver, its story and the example; skipped where there is no Python of 3.9 or later.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe } from "vitest";
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
