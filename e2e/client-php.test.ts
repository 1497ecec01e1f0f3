// Goal: the client for PHP does what the vectors say, and all of the API with a running service. Method: the machine's php runs
// its driver and its story; skipped where there is no PHP of 8.0 or later.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { testStory } from "./kit/client-story.ts";
import { run, testHostile, testVectors, testWholeness } from "./kit/client-vectors.ts";

const php = process.env.GERBANG_TEST_PHP ?? "php";
const isThere = spawnSync(php, ["-r", "exit(PHP_VERSION_ID < 80000 ? 1 : 0);"]).status === 0;
const folder = fileURLToPath(new URL("../clients/php", import.meta.url));

describe.runIf(isThere)("the client for PHP", () => {
  testVectors([php, join(folder, "test/driver.php")]);
  testHostile([php, "-d", "memory_limit=128M", join(folder, "test/driver.php")]);
  test("processes that draw the same random numbers take other timestamps after a replay, and the nearest before", async () => {
    const code = `require 'Gerbang.php';
mt_srand(1);
$drawn = $near = [];
for ($process = 0; $process < 40; $process++) {
    mt_srand(1); // as in a process that was forked
    $drawn[] = (new Gerbang\\Stamps())->take('one', 0, true);
}
for ($stamps = new Gerbang\\Stamps(), $call = 0; $call < 3; $call++) {
    $near[] = abs($stamps->take('one', 0, false));
}
echo json_encode([count(array_unique($drawn)) > 25, max(array_map('abs', $drawn)) <= 240, $near]);`;
    expect(await run([php, "-d", `include_path=${folder}`, "-r", code], "")).toBe("[true,true,[0,1,1]]");
  });
  test("a signal does not shorten a wait", async () => {
    const code = `require 'Gerbang.php';
if (!function_exists('pcntl_fork')) {
    exit('waited');
}
pcntl_async_signals(true);
pcntl_signal(SIGUSR1, fn() => null);
$parent = getmypid();
if (pcntl_fork() === 0) {
    for ($times = 0; $times < 5; $times++) {
        usleep(50_000);
        posix_kill($parent, SIGUSR1);
    }
    exit;
}
$begun = hrtime(true);
(new Gerbang\\Time())->sleep(0.5);
echo hrtime(true) - $begun >= 500_000_000 ? 'waited' : 'cut short';`;
    expect(await run([php, "-d", `include_path=${folder}`, "-r", code], "")).toBe("waited");
  });
  test("a secret that is no text is refused, and the one beside it is in no trace", async () => {
    const code = `require 'Gerbang.php';
foreach ([['whsec_b25l', 5], ['whsec_b25l', ['whsec_dHdv']], [null, ''], []] as $secrets) {
    try {
        (new Gerbang\\Webhooks())->unwrap('{}', [], $secrets);
    } catch (Throwable $error) {
        echo get_class($error), str_contains(print_r($error->getTrace(), true), 'whsec_') ? ' shows a secret' : '', "\\n";
    }
}`;
    const shown = ["-d", "zend.exception_ignore_args=0", "-d", `include_path=${folder}`];
    expect(await run([php, ...shown, "-r", code], "")).toBe("InvalidArgumentException\n".repeat(4));
  });
  test.each([
    ["new Gerbang\\Client();", "secret is missing: pass it, or set GERBANG_SECRET"],
    [
      "new Gerbang\\Client(['client_id' => \"ak_test_1\\r\", 'secret' => 's']);",
      "client_id is not one like ak_test_…: look for a space or a line end in it",
    ],
    [
      "(new Gerbang\\Webhooks())->unwrap('{}', [], getenv('GERBANG_WEBHOOK_SECRET'));",
      "secrets: at least one webhook secret is needed, as text, such as that of GERBANG_WEBHOOK_SECRET",
    ],
    [
      "(new Gerbang\\Client(['client_id' => 'ak_test_1', 'secret' => 's', 'base_url' => 'http://127.0.0.1:1/v1', 'deadline' => 0.5]))->health();",
      "No connection to tcp://127.0.0.1:1 could be made: Connection refused.",
    ],
    [
      "throw new Exception((new Gerbang\\GerbangException('NEW_CODE', ''))->advice);",
      "See the errors in the docs of your service, at /docs/errors.",
    ],
  ])("says what to set or where to look: %s", async (code, told) => {
    const program = `require ${JSON.stringify(join(folder, "Gerbang.php"))};`;
    const typed = `declare(strict_types=1); ${program} try { ${code} } catch (Throwable $error) { echo $error->getMessage(); }`;
    expect(await run([php, "-r", typed], "", {})).toBe(told);
  });
  testWholeness(join(folder, "Gerbang.php"), join(folder, "README.md"), (code) => run([php, "-l"], `<?php ${code}`));
  testStory([php, join(folder, "test/story.php")], "php");
});
