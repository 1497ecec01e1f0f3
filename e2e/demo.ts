// `npm run demo`: plays a payment step by step, with its own service, database and TLS receiver.
import { renderUnicodeCompact } from "uqr";
import { Client, type Answer, operate } from "./kit/client.ts";
import { Receiver, isGenuine, makeCertificates } from "./kit/receiver.ts";
import { Service, gerbang } from "./kit/service.ts";

const color = process.stdout.isTTY;
const paint = (code: number, text: string): string => (color ? `\u001B[${code}m${text}\u001B[0m` : text);
const bold = (text: string): string => paint(1, text);
const dim = (text: string): string => paint(2, text);
const green = (text: string): string => paint(32, text);

let count = 0;
function step(title: string): void {
  count++;
  console.log(`\n${bold(`${count}. ${title}`)}`);
}

function line(name: string, value: string): void {
  console.log(`   ${dim(name.padEnd(14))} ${value}`);
}

function money(minor: number, currency = "IDR"): string {
  return `${currency} ${(minor / 100).toLocaleString("en-US", { minimumFractionDigits: 2 })}`;
}

function expectStatus(answer: Answer, status: number): Answer {
  if (answer.status !== status) throw new Error(`expected ${status}, got ${answer.status}: ${answer.text}`);
  return answer;
}

/** Prints the balances of each currency, with a bar for the available money. */
async function showBalances(client: Client): Promise<void> {
  const { json } = expectStatus(await client.get("/v1/balances"), 200);
  for (const entry of json.data) {
    line(
      "available",
      `${green(money(entry.available_minor, entry.currency))}  ${"█".repeat(Math.min(40, entry.available_minor / 5e5))}`,
    );
    line("held", money(entry.held_minor, entry.currency));
    line("settling", money(entry.pending_settlement_minor, entry.currency));
  }
}

console.log(bold("\nA payment's whole journey, in a sandbox of its own. No account, no outside service."));
const certificates = await makeCertificates();
const receiver = await Receiver.start(certificates);
console.log(dim("Starting PostgreSQL and the service …"));
const service = await Service.start({
  env: { NODE_EXTRA_CA_CERTS: certificates.caFile, WEBHOOK_ALLOW_HOSTS: "localhost" },
});
try {
  const { demo } = service;
  const client = new Client(demo);

  step("The operator registers the merchant's webhook address");
  const hook = await operate(demo, "PUT", `/merchants/${demo.merchant_id}/webhook`, {
    environment: "sandbox",
    url: receiver.url(),
  });
  line("address", hook.url);
  line("secret", `${hook.webhook_secret.slice(0, 12)}…`);

  step("The merchant's shop creates a payment, signed with HMAC-SHA256");
  const created = expectStatus(
    await client.post("/v1/payments", {
      amount_minor: 7_500_000,
      currency: "IDR",
      payment_method: "qris",
      reference_id: "order-1001",
      description: "Two bags of coffee",
      customer: { name: "Sari", email: "sari@pelanggan.id" },
      metadata: { table: "4" },
    }),
    201,
  );
  const payment = created.json;
  line("reference", payment.reference);
  line("amount", money(payment.amount_minor));
  line("fee", money(payment.fee_minor));
  line("acquirer", `${payment.gateway_code} ${dim("(chosen by the routing rules)")}`);
  line("risk", `${payment.risk.decision}, score ${payment.risk.score}`);
  line("request", created.headers.get("x-request-id") ?? "");

  step("The payer scans this QRIS code");
  console.log(
    renderUnicodeCompact(payment.instructions.qr_string)
      .split("\n")
      .map((row) => `   ${row}`)
      .join("\n"),
  );
  await showBalances(client);

  step("The payer pays; the acquirer says so");
  const paid = expectStatus(
    await client.post(`/v1/sandbox/payments/${payment.reference}/simulate`, { outcome: "succeeded" }),
    200,
  );
  line("status", green(paid.json.status));
  line("paid at", paid.json.paid_at);
  line("settles on", paid.json.settlement.estimated_date);

  step("The ledger has one balanced journal for it");
  const book = ["--merchant", demo.merchant_id, "--environment", "sandbox", "--format", "jsonl"];
  const exported = await gerbang(["ledger", "export", ...book], { GERBANG_DATA: service.dataDirectory });
  const journal = JSON.parse(exported.stdout.split("\n", 1)[0] ?? "") as {
    hash: string;
    entries: { account: string; amount_minor: string; currency: string }[];
  };
  for (const { account, amount_minor: amount, currency } of journal.entries) {
    const minor = Number(amount);
    line(minor > 0 ? "debit" : "credit", `${account.padEnd(32)} ${money(Math.abs(minor), currency)}`);
  }
  line("sealed", dim(`${journal.hash.slice(0, 32)}…`));
  await showBalances(client);

  step("The receiver gets signed webhooks and checks them");
  for (const type of ["payment.created", "payment.succeeded"]) {
    const delivery = await receiver.waitFor(({ event }) => event.type === type);
    const genuine = isGenuine(delivery, hook.webhook_secret);
    if (!genuine) throw new Error("a webhook did not verify");
    line(
      type,
      `${green("signature verified")}, event ${delivery.event.id}, attempt ${String(delivery.headers["x-svc-delivery-attempt"])}`,
    );
  }

  step("The same request again with the same key pays nothing twice");
  const body = { amount_minor: 2_000_000, currency: "IDR", payment_method: "ewallet", reference_id: "order-1002" };
  const first = expectStatus(await client.post("/v1/payments", body, { key: "order-1002-create" }), 201);
  const again = expectStatus(await client.post("/v1/payments", body, { key: "order-1002-create" }), 200);
  line("first", `${first.status} ${first.json.reference}`);
  line(
    "again",
    `${again.status} ${again.json.reference}  X-Idempotent-Replay: ${again.headers.get("x-idempotent-replay")}`,
  );
  line("payer's page", first.json.instructions.redirect_url);

  step("An hour passes in the sandbox, in no time: the unpaid one expires");
  expectStatus(await client.post("/v1/sandbox/clock/advance", { seconds: 3600 }), 200);
  const expired = expectStatus(await client.get(`/v1/payments/${first.json.reference}`), 200);
  line("status", expired.json.status);
  await receiver.waitFor(({ event }) => event.type === "payment.expired");
  line("webhook", green("payment.expired arrived"));

  step("Every book is replayed and checked: sums, sequence, hash chain");
  const verify = await gerbang(["verify"], { GERBANG_DATA: service.dataDirectory });
  if (verify.code !== 0) throw new Error(`verify found something:\n${verify.stdout}`);
  line("verify", green(verify.stderr.trim().split("\n").at(-1) ?? ""));
  console.log(`\n${green("Done.")} Now try it yourself: ${bold("npm start")}\n`);
} finally {
  await service.discard();
  await receiver.close();
}
