// Goal: the client for PHP does what the vectors say, and all of the API with a running service; its example works. Method: the machine's php runs
// its driver, its story and the example; skipped where there is no PHP of 8.0 or later.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe } from "vitest";
import { testShop } from "./kit/client-shop.ts";
import { environmentOf, testStory } from "./kit/client-story.ts";
import { run, testVectors, testWholeness } from "./kit/client-vectors.ts";

const php = process.env.GERBANG_TEST_PHP ?? "php";
const isThere = spawnSync(php, ["-r", "exit(PHP_VERSION_ID < 80000 ? 1 : 0);"]).status === 0;
const folder = fileURLToPath(new URL("../clients/php", import.meta.url));

describe.runIf(isThere)("the client for PHP", () => {
  testVectors([php, join(folder, "test/driver.php")]);
  testWholeness(join(folder, "Gerbang.php"), join(folder, "README.md"), (code) => run([php, "-l"], `<?php ${code}`));
  const service = testStory([php, join(folder, "test/story.php")], "php");

  describe("its example", () => {
    let place: string;
    beforeAll(() => {
      place = mkdtempSync(join(tmpdir(), "gerbang-php-"));
    });
    afterAll(() => rmSync(place, { recursive: true, force: true }));
    testShop((port) => ({
      command: [php, "-S", `127.0.0.1:${port}`, join(folder, "examples/shop.php")],
      env: { ...process.env, ...environmentOf(service()), SHOP_FOLDER: join(place, "orders") },
      webhookSecret: service().demo.webhook_secret,
    }));
  });
});
