// Goal: what the documents tell people to type works. Method: type it, word for word, in a shell.
import { execFile, spawn, spawnSync } from "node:child_process";
import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { type IncomingMessage, createServer } from "node:http";
import { request as https } from "node:https";
import { type AddressInfo, type Server, createServer as createNetServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { greeting } from "../gateway/src/cli/greeting.ts";
import { Client, operate, settledLate } from "./kit/client.ts";
import { Service, compiled } from "./kit/service.ts";

/** Of a shell whose npx finds the program. */
const env = {
  PATH: `${join(import.meta.dirname, "../node_modules/.bin")}:${process.env.PATH ?? ""}`,
  HOME: process.env.HOME ?? "/",
  ...compiled(),
};

const root = fileURLToPath(new URL("..", import.meta.url));
const has = (program: string): boolean =>
  spawnSync(program, ["--version"]).status === 0 || spawnSync(program, ["version"]).status === 0;
// The guide uses what a developer's shell has. The product needs none of it.
const shell = has("bash") && has("curl") && has("openssl");

const execute = promisify(execFile);

/**
 * Types a script in a shell, and gives what it prints. This process goes on meanwhile: it would else not notice that the service closes a connection
 * that is not in use, and send its next request there.
 */
async function type(script: string, given: Record<string, string | undefined> = {}): Promise<string> {
  return (await execute("bash", ["-c", script], { cwd: place, env: { ...env, ...given } })).stdout;
}

/** The shell blocks of a document, in order. */
function blocks(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block ?? "");
}

async function portOf(server: Server): Promise<number> {
  await once(server.listen(0), "listening");
  return (server.address() as AddressInfo).port;
}

let place: string;
let service: Service;

describe.runIf(shell)("the guide from nothing to money", () => {
  beforeAll(async () => {
    place = mkdtempSync(join(tmpdir(), "gerbang-guide-"));
    chmodSync(place, 0o711);
    symlinkSync(join(root, "node_modules"), join(place, "node_modules"));
    service = await Service.start({ dataDirectory: join(place, ".data") });
    await operate(service.demo, "PATCH", `/merchants/${service.demo.merchant_id}`, settledLate);
  });
  afterAll(async () => {
    await service.stop();
    rmSync(place, { recursive: true, force: true });
  });

  test("every command of it runs, and the payment becomes money", async () => {
    const [start, ...rest] = blocks("docs/guides/getting-started.md");
    expect(start?.trim()).toBe("npm ci && npm start"); // that one is running already
    expect(rest.length).toBeGreaterThanOrEqual(7);
    const script = ["set -e", ...rest.map((block) => `${block}\necho; echo "--- next"`)].join("\n");
    const output = await type(script);
    const answers = output.split("--- next");
    expect(answers[2]).toContain('"status":"pending"');
    expect(answers[4]).toContain('"status":"succeeded"');
    expect(answers[5]).toContain('"available_minor":7447500');
    expect(answers[5]).toContain('"clean":true');
    expect(answers[6]).toContain('"webhook_secret":"whsec_');
    expect(answers[8]).toContain('"offset_seconds":3600');
    expect(output).not.toContain('"error"');
  });

  test("its certificate and its program give a receiver on this machine an https address", async () => {
    const text = readFileSync(join(root, "docs/guides/getting-started.md"), "utf8");
    const [, program = ""] = /```js\n([\s\S]*?)```/.exec(text) ?? [];
    await type(blocks("docs/guides/getting-started.md").find((block) => block.startsWith("openssl ")) ?? "");
    writeFileSync(join(place, "tls.mjs"), program);
    const receiver = createServer((request, response) => void response.end(`${request.method} ${request.url}`));
    const [port, free] = [await portOf(receiver), createNetServer()];
    const tlsPort = await portOf(free);
    await new Promise((done) => free.close(done));
    const given = { ...env, PORT: String(port), TLS_PORT: String(tlsPort) };
    const front = spawn(process.execPath, ["tls.mjs"], { cwd: place, env: given, stdio: "inherit" });
    try {
      const call = async (): Promise<string> => {
        const sent = https({
          port: tlsPort,
          host: "localhost",
          ca: readFileSync(join(place, "cert.pem")),
          method: "POST",
          path: "/hook",
        });
        const [answer] = (await once(sent.end(), "response")) as [IncomingMessage];
        return (await answer.toArray()).join("");
      };
      await expect.poll(() => call().catch(String), { timeout: 10_000 }).toBe("POST /hook");
      receiver.closeAllConnections();
      await new Promise((done) => receiver.close(done));
      await expect(call()).rejects.toThrow(/hang up|ECONNRESET/); // and it goes on
      expect(front.exitCode).toBe(null);
    } finally {
      front.kill();
      receiver.close();
    }
  });

  test("every command of the guide to RFC 9421 runs; what it signs is accepted, what is wrong is explained", async () => {
    const [, exports] = blocks("docs/guides/getting-started.md");
    const script = [
      "set -e",
      exports,
      ...blocks("docs/guides/signing.md").map((block) => `${block}\necho; echo "--- next"`),
    ];
    const output = await type(script.join("\n"));
    const [balances, printed, byHand, doctor, demanded] = output.split("--- next");
    expect(balances).toContain('"available_minor"');
    expect(printed).toContain('"reference_id":"order-9421"');
    expect(byHand).toContain('"reference_id":"order-9422"');
    expect(doctor).toContain('"diagnosis":"base_unknown"');
    expect(doctor).toContain('"signature_base":"\\"@method\\": GET\\n');
    expect(demanded).toContain('"signature":"rfc9421"');
    expect(output).not.toContain('"error"');
  });

  test("every command of the guide to payment links runs: a link is made, used once by its form, found and closed", async () => {
    const [, exports, call] = blocks("docs/guides/getting-started.md");
    const commands = blocks("docs/guides/payment-links.md");
    const script = ["set -e", exports, call, ...commands.map((block) => `${block}\necho; echo "--- next"`)];
    const output = await type(script.join("\n"));
    const [made, tips, begun, came, closed] = output.split("--- next");
    expect(made).toContain('"uuid":"lnk_');
    expect(tips).toContain('"payment_methods":["qris","ewallet"]');
    expect(begun).toMatch(/303 http:\/\/127\.0\.0\.1:\d+\/pay\/[0-9a-z]{78}/);
    expect(came).toContain('"payment_link":"lnk_');
    expect(came).toContain('"payment_reference":"pay_');
    expect(closed).toContain('"status":"deactivated"');
    expect(output).not.toContain('"error"');
  });

  test("every command of the guide to the payer's page runs: a payment has a page, in the language of its payer", async () => {
    const [, exports, call] = blocks("docs/guides/getting-started.md");
    const script = ["set -e", exports, call, ...blocks("docs/guides/payers-page.md")];
    const output = await type(script.join("\n"));
    expect(output).toContain('<html lang="id">');
    expect(output).toContain("Two bags of coffee");
    expect(output).toContain("Lewat ATM");
  });

  test("every command for a bad day finds the cause: of an event, a signature, a key and a payment", async () => {
    const client = new Client(service.demo);
    const pay = { amount_minor: 900_000, currency: "IDR", payment_method: "qris", reference_id: "bad-day" };
    const { reference } = (await client.post("/v1/payments", pay)).json;
    const other = new Client({ ...service.demo, secret: "sk_test_of_somebody_else" });
    const refused = (await other.get("/v1/balances")).json.error as { request_id: string };
    const { data } = (await client.get("/v1/events?type=payment.created&limit=1")).json as { data: { id: string }[] };
    const given = { EVENT: data[0]?.id, REQUEST_ID: refused.request_id, ORDER: "bad-day", PAYMENT: String(reference) };
    const text = readFileSync(join(root, "docs/guides/troubleshooting.md"), "utf8");
    const [, simulate = ""] = /`(npx gerbang payments simulate [^`]*)`/.exec(text) ?? [];
    expect(simulate).toContain("$PAYMENT");
    await type(simulate.replace("succeeded", "processing"), given);
    const commands = [
      ...blocks("docs/guides/troubleshooting.md"),
      simulate,
      "npx gerbang events list --type payment.created",
    ];
    const script = ["set -e", ...commands.map((block) => `${block}\necho "--- next"`)].join("\n");
    const output = await type(script, given);
    const [seen, event, doctor, order, simulated] = output.split("--- next");
    expect(seen).toMatch(/payment\.created +(none|pending|undelivered)/);
    expect(event).toContain("\ndelivery");
    expect(doctor).toMatch(/^\s*unknown\n/);
    expect(order).toContain(`${String(reference)}  processing`);
    expect(simulated).toContain("succeeded");
  });

  test("each cause of the page for a bad day is what a delivery's record says", () => {
    const sender = readFileSync(join(root, "gateway/src/webhooks/sender.ts"), "utf8");
    const text = readFileSync(join(root, "docs/guides/troubleshooting.md"), "utf8");
    const causes = [...text.matchAll(/^\| (The (?:host|TLS)[^|.…]*)/gm)].map(([, cause = ""]) => cause.trim());
    expect(causes.length).toBe(4);
    for (const cause of causes) expect(sender).toContain(cause);
  });

  test("the vector of the guide to RFC 9421 is right", () => {
    const text = readFileSync(join(root, "docs/guides/signing.md"), "utf8");
    const [, base = ""] = /```\n("@method": POST\n[^]*?)\n```/.exec(text) ?? [];
    const [, signature] = /and the signature `([^`]+)`/.exec(text) ?? [];
    expect(base).toContain(createHash("sha256").update('{"a":1}').digest("base64"));
    expect(createHmac("sha256", "sk_test_vector").update(base).digest("base64")).toBe(signature);
  });

  test("the curl that a start at a terminal prints creates a payment", async () => {
    const addresses = { baseUrl: `${service.url}/v1`, opsUrl: service.opsUrl, metrics: undefined };
    const config = { serviceName: "gerbang", dataDirectory: service.dataDirectory };
    const lines = greeting(config, addresses, { ...service.demo, base_url: addresses.baseUrl }).split("\n");
    const begin = lines.findIndex((line) => line.includes("TS=$(date +%s); BODY="));
    const end = lines.findIndex((line) => line.includes('-d "$BODY"'));
    const answer = await type(lines.slice(begin, end + 1).join("\n"));
    expect(answer).toContain('"status":"pending"');
  });

  test("the sandbox pays by curl, as its guide says, and declines", async () => {
    const [, command = ""] =
      /`(curl [^`]*\$CHECKOUT_URL[^`]*)`/.exec(readFileSync(join(root, "docs/guides/sandbox.md"), "utf8")) ?? [];
    const client = new Client(service.demo);
    for (const [typed, status] of [
      [command, "succeeded"],
      [command.replace("approve", "decline"), "failed"],
    ]) {
      const body = { amount_minor: 900_000, currency: "IDR", payment_method: "qris", reference_id: `curl-${status}` };
      const { reference, checkout_url: page } = (await client.post("/v1/payments", body)).json;
      await type(typed ?? "", { CHECKOUT_URL: page as string });
      expect((await client.get(`/v1/payments/${reference}`)).json.status).toBe(status);
    }
  });
});

test("the demo plays to its end", async () => {
  const { stdout } = await execute(process.execPath, [join(root, "e2e/demo.ts")], { timeout: 200_000 });
  expect(stdout).toContain("signature verified");
  expect(stdout).toContain("clean");
});

test("the page of settings names every variable that is read", () => {
  const page = readFileSync(join(root, "docs/guides/settings.md"), "utf8");
  const config = readFileSync(join(root, "gateway/src/ground/config.ts"), "utf8");
  const names = [...config.matchAll(/^ {2}([A-Z_]{4,}):/gm)].map(([, name]) => name ?? "");
  expect(names.length).toBeGreaterThan(12);
  for (const name of names) expect(page, name).toContain(`\`${name}\``);
});
