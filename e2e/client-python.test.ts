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
  test("refuses half a character in what a list is asked for, by its own error", async () => {
    const code = `from gerbang import Gerbang, GerbangError
try:
    Gerbang("ak_test_1", "sk_test_1", "http://127.0.0.1:9", deadline=0).payments.page(reference_id="a" + chr(0xd800))
except GerbangError as error:
    print(error.code, error.details["field"])`;
    const environment = { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" };
    expect(await run([python, "-c", code], "", environment)).toBe("VALIDATION_ERROR reference_id\n");
  });
  test("one time limit is for all addresses of a host, of which none answers", async () => {
    // A full queue: who comes is not answered.
    const code = `import socket, time
from gerbang import Gerbang, GerbangError
full, waiting = [], []
for last in (2, 3, 4):
    listener = socket.socket()
    listener.bind((f"127.0.0.{last}", full[0].getsockname()[1] if full else 0))
    listener.listen(0)
    full.append(listener)
    for _ in range(4):
        caller = socket.socket()
        caller.setblocking(False)
        caller.connect_ex(listener.getsockname())
        waiting.append(caller)
port = full[0].getsockname()[1]
socket.getaddrinfo = lambda *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (f"127.0.0.{last}", port)) for last in (2, 3, 4)]
begun = time.monotonic()
try:
    Gerbang("ak_test_1", "sk_test_1", f"http://three.test:{port}", timeout=0.5, deadline=0.5).health()
except GerbangError as error:
    print(error.code, time.monotonic() - begun < 1)`;
    expect(await run([python, "-c", code], "", { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" })).toBe(
      "TIMED_OUT True\n",
    );
  });
  test("an address that is silent, and one of a family that the machine has not, leave time for the next", async () => {
    const code = `import socket, threading
from gerbang import Gerbang
full, waiting, listener = socket.socket(), [], socket.socket()
full.bind(("127.0.0.2", 0))
full.listen(0)
for _ in range(4):
    caller = socket.socket()
    caller.setblocking(False)
    caller.connect_ex(full.getsockname())
    waiting.append(caller)
port = full.getsockname()[1]
listener.bind(("127.0.0.3", port))
listener.listen(8)
def serve():
    while True:
        connection, _ = listener.accept()
        connection.recv(65536)
        connection.sendall(b'HTTP/1.1 200 OK\\r\\ncontent-length: 15\\r\\n\\r\\n{"status":"ok"}')
threading.Thread(target=serve, daemon=True).start()
places = [(99, ("::1", port)), (socket.AF_INET, ("127.0.0.2", port)), (socket.AF_INET, ("127.0.0.3", port))]
socket.getaddrinfo = lambda *_, **__: [(family, socket.SOCK_STREAM, 6, "", place) for family, place in places]
print(Gerbang("ak_test_1", "sk_test_1", f"http://three.test:{port}", timeout=2, deadline=2).health()["status"])`;
    expect(await run([python, "-c", code], "", { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" })).toBe("ok\n");
  });
  test("a secret that is not set is as good as not there, while one is rotated", async () => {
    const code = `import gerbang
body, secret = '{"id":"evt_1","type":"payment.succeeded"}', "whsec_aGVsbG8gaGVsbG8="
headers = gerbang.webhooks.sign(body, secret)
print(gerbang.webhooks.unwrap(body, headers, [None, secret])["id"])
for unset in (None, "", [None], [], [secret, 5]):
    try:
        gerbang.webhooks.unwrap(body, headers, unset)
    except ValueError as error:
        print(error)`;
    const said = await run([python, "-c", code], "", { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" });
    expect(said).toBe(`evt_1\n${"secrets: at least one webhook secret is needed, as text\n".repeat(5)}`);
  });
  test("an identifier with the line end of another system is told from one that is missing", async () => {
    const code = `import gerbang
for client_id in (None, "ak_test_1\\r"):
    try:
        gerbang.Gerbang(client_id, "sk_test_1", "http://127.0.0.1:1")
    except ValueError as error:
        print(error)`;
    const said = await run([python, "-c", code], "", { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" });
    expect(said).toBe(
      "client_id is missing: pass it, or set GERBANG_CLIENT_ID to one like ak_test_…\n" +
        "client_id is not one like ak_test_…: look for a space or a line end in it\n",
    );
  });
  test("a store whose claim returns nothing has not said that the event was handled: it comes again", async () => {
    const code = `import gerbang
class Forgetful(gerbang.EventStore):
    def claim(self, id): asked.append(id)
asked, body, secret = [], '{"id":"evt_1","type":"payment.succeeded"}', "whsec_aGVsbG8gaGVsbG8="
gerbang.CLAIM_WAIT_MAX_SECONDS = 0
status = gerbang.webhooks.handle(body, gerbang.webhooks.sign(body, secret), secret, print, store=Forgetful())
print(status, asked)`;
    const said = await run([python, "-c", code], "", { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" });
    expect(said).toBe("503 ['evt_1']\n");
  });
  test("async functions, which nothing would run, are answered 500: the event comes again", async () => {
    const code = `import logging, warnings
from gerbang import webhooks
logging.disable()
warnings.simplefilter("ignore")
body, secret, calls = '{"id":"evt_1","type":"payment.succeeded"}', "whsec_aGVsbG8gaGVsbG8=", []
class Store:
    def claim(self, id): return True
    def done(self, id): calls.append("done")
    def release(self, id): calls.append("release")
class AsyncStore(Store):
    async def claim(self, id): return True
async def on(event): calls.append("on")
headers = webhooks.sign(body, secret)
print(webhooks.handle(body, headers, secret, on, store=Store()), webhooks.handle(body, headers, secret, calls.append, store=AsyncStore()), calls)`;
    const said = await run([python, "-c", code], "", { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" });
    expect(said).toBe("500 500 ['release']\n");
  });
  test("a process that is forked while another thread signs waits for nobody", async () => {
    const code = `import os, signal, threading
from gerbang import Gerbang
client = Gerbang("ak_test_1", "sk_test_1", "http://127.0.0.1:9", scheme="timestamp")
numbers = iter(range(10**9))
def sign():
    while True:
        client._signed("POST", "/v1/payments", b"%d" % next(numbers), "12345678", False)
threading.Thread(target=sign, daemon=True).start()
ended = []
for _ in range(10):
    child = os.fork()
    if child == 0:
        signal.alarm(2)
        client._signed("POST", "/v1/payments", b"{}", "12345678", False)
        os._exit(0)
    ended.append(os.waitpid(child, 0)[1])
os._exit(1 if any(ended) else 0)`;
    const environment = { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" };
    await run([python, "-c", code], "", environment);
  });
  test("threads that sign one request at once get a timestamp each", async () => {
    const code = `import sys, threading
from gerbang import _Stamps
sys.setswitchinterval(1e-6)
stamps, taken = _Stamps(), []
def take():
    for _ in range(40):
        taken.append(stamps.take(b"one", 1_800_000_000, False))
threads = [threading.Thread(target=take) for _ in range(12)]
[one.start() for one in threads]
[one.join() for one in threads]
print(len(taken), len(set(taken)))`;
    const environment = { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" };
    expect(await run([python, "-c", code], "", environment)).toBe("480 480\n");
  });
  test("processes that are seeded alike take other timestamps after a replay", async () => {
    const code = `import random
from gerbang import _Stamps
drawn = set()
for _ in range(40):
    random.seed(1)
    drawn.add(_Stamps().take(b"one", 1_800_000_000, True))
print(len(drawn) > 25)`;
    const environment = { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" };
    expect(await run([python, "-c", code], "", environment)).toBe("True\n");
  });
  test("a report of what went wrong with a delivery has no secret among the variables of its frames", async () => {
    const code = `import logging, sys, traceback
from gerbang import webhooks
secret, body = bytes.fromhex("77687365635f633256").decode(), '{"id":"evt_1","type":"payment.succeeded"}'
reports = []
class Reporter(logging.Handler):
    def emit(self, record):
        reports.append(record.exc_info[1])
logging.getLogger("gerbang").addHandler(Reporter())
def on(event):
    raise RuntimeError("the queue is away")
print(webhooks.handle(body, webhooks.sign(body, secret), [secret], on), *(webhooks.handle(body, {}, some, on) for some in ([5, secret], None)))
for call in (lambda: webhooks.sign("", secret), lambda: webhooks.unwrap(body, 5, secret)):
    try:
        call()
    except Exception as error:
        reports.append(error)
frames = [frame for error in reports for frame in traceback.walk_tb(error.__traceback__) if "gerbang.py" in frame[0].f_code.co_filename]
print(len(reports), len(frames) > 8, any(secret in repr(frame.f_locals) for frame, _ in frames))`;
    const environment = { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" };
    expect(await run([python, "-c", code], "", environment)).toBe("500 500 500\n5 True False\n");
  });
  test("a connection that fails is told with its address and why, and an unknown code with where it is explained", async () => {
    const code = `from gerbang import Gerbang, GerbangError
try:
    Gerbang("ak_test_1", "sk_test_1", "http://127.0.0.1:1/v1", deadline=0.5).health()
except GerbangError as error:
    print(error.message)
print(GerbangError("NEW_CODE", "").advice)`;
    const said = await run([python, "-c", code], "", { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" });
    expect(said).toBe(
      "The connection to http://127.0.0.1:1 failed: Connection refused.\n" +
        "See the errors in the docs of your service, at /docs/errors.\n",
    );
  });
  test("an error that says that an event is busy comes through a pool of processes", async () => {
    const code = "import gerbang, pickle; print(type(pickle.loads(pickle.dumps(gerbang.EventBusyError()))).__name__)";
    const named = await run([python, "-c", code], "", { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" });
    expect(named).toBe("EventBusyError\n");
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
      fieldsOf("Refund", "CreatedRefund", "RefundEventData"),
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
