// Goal: the client for PHP does what the vectors say, and all of the API with a running service. Method: the machine's php runs
// its driver and its story; skipped where there is no PHP of 8.0 or later.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe } from "vitest";
import { testStory } from "./kit/client-story.ts";
import { run, testHostile, testVectors, testWholeness } from "./kit/client-vectors.ts";

const php = process.env.GERBANG_TEST_PHP ?? "php";
const isThere = spawnSync(php, ["-r", "exit(PHP_VERSION_ID < 80000 ? 1 : 0);"]).status === 0;
const folder = fileURLToPath(new URL("../clients/php", import.meta.url));

describe.runIf(isThere)("the client for PHP", () => {
  testVectors([php, join(folder, "test/driver.php")]);
  testHostile([php, "-d", "memory_limit=128M", join(folder, "test/driver.php")]);
  testWholeness(join(folder, "Gerbang.php"), join(folder, "README.md"), (code) => run([php, "-l"], `<?php ${code}`));
  testStory([php, join(folder, "test/story.php")], "php");
});
