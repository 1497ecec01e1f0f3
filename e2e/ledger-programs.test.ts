// Goal: a book leaves the service in a form that other people's bookkeeping programs read, agree with and check.
// Method: a real service takes payments in two currencies on several days; its exports are held against GET /v1/balances, by
// hledger, Ledger and Beancount where they are installed; then one digit is changed, and each program has to refuse the text.
import { defaultSettings } from "../gateway/src/merchants/settings.ts";
import { alsoIn } from "../gateway/test/currencies.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exportBook } from "../gateway/src/ledger/export.ts";
import { type Journal, journalHash } from "../gateway/src/ledger/journal.ts";
import { Client, operate } from "./kit/client.ts";
import { Service, compiled } from "./kit/service.ts";

interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a program to the end of its output. */
async function run(command: string, args: string[], input = "", env: Record<string, string> = {}): Promise<Outcome> {
  const { PATH = "", HOME = "/" } = process.env;
  const child = spawn(command, args, { env: { PATH, HOME, ...compiled(), ...env } });
  const outcome: Outcome = { code: null, stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => void (outcome.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => void (outcome.stderr += text));
  child.stdin.on("error", () => undefined); // a program that refuses its input early need not read the rest
  child.stdin.end(input);
  [outcome.code] = (await once(child, "close")) as [number | null];
  return outcome;
}

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK);
      return true;
    } catch {
      return false; // not in this directory
    }
  });
}

const gerbang = fileURLToPath(new URL("../gateway/bin/gerbang.js", import.meta.url));
const exponents: Record<string, number> = { IDR: 2, USD: 2, JPY: 0, KWD: 3 };
const directory = mkdtempSync(join(tmpdir(), "gerbang-export-"));
let service: Service;
let client: Client;
/** The exports of the demo merchant's sandbox, by format. */
const texts = { hledger: "", beancount: "", jsonl: "" };
/** What GET /v1/balances says the merchant has: by currency and account, in minor units. */
const owned: Record<string, Record<"available" | "held" | "settling", bigint>> = {};

function exporting(format: string, env: Record<string, string> = {}): Promise<Outcome> {
  const { merchant_id: merchant } = service.demo;
  const args = ["ledger", "export", "--merchant", merchant, "--environment", "sandbox", "--format", format];
  return run(process.execPath, [gerbang, ...args], "", { GERBANG_DATA: service.dataDirectory, ...env });
}

async function exported(format: string): Promise<string> {
  const { code, stdout, stderr } = await exporting(format);
  expect(code, stderr).toBe(0);
  return stdout;
}

beforeAll(async () => {
  service = await Service.start();
  const { demo } = service;
  client = new Client(demo);
  await operate(demo, "PATCH", `/merchants/${demo.merchant_id}`, {
    ...alsoIn({ fees: { ...defaultSettings.fees, card: { basis_points: 290, flat_minor: 31 } } }, "USD"),
  });
  const orders: [amount: number, currency: string, method: string][] = [
    [150_000_00, "IDR", "qris"],
    [19_99, "USD", "card"],
    [1_234_567_89, "IDR", "va"],
    [9_999_999_999, "IDR", "bank_transfer"],
    [1_01, "IDR", "ewallet"],
    [999_999_99, "USD", "card"],
  ]; // prettier-ignore
  for (const [index, [amount, currency, method]] of orders.entries()) {
    const { status, json } = await client.post("/v1/payments", {
      amount_minor: amount,
      currency,
      payment_method: method,
      reference_id: `order-${index}`,
    });
    expect(status, JSON.stringify(json)).toBe(201);
    const paid = await client.post(`/v1/sandbox/payments/${json.reference}/simulate`, { outcome: "succeeded" });
    expect(paid.status, paid.text).toBe(200);
    // The last two are paid on a day that nothing closes, so that both currencies have something available.
    if (index === 1 || index === 3) {
      const advanced = await client.post("/v1/sandbox/clock/advance", { seconds: 86_400 });
      expect(advanced.status, advanced.text).toBe(200);
    }
  }
  // Settlements may still be forming: look until the book stood still while everything was read.
  for (let before: string | undefined; before === undefined || before !== texts.jsonl;) {
    before = texts.jsonl;
    for (const format of ["hledger", "beancount"] as const) texts[format] = await exported(format);
    for (const entry of (await client.get("/v1/balances")).json.data) {
      owned[entry.currency] = {
        available: BigInt(entry.available_minor),
        held: BigInt(entry.held_minor),
        settling: BigInt(entry.pending_settlement_minor),
      };
    }
    texts.jsonl = await exported("jsonl");
  }
});
afterAll(async () => {
  await service.discard();
  rmSync(directory, { recursive: true, force: true });
});

/** A decimal of a program's report in minor units; programs leave out zeros at the end. */
function minorOf(text: string, currency: string): bigint {
  const [whole = "", fraction = ""] = text.split(".");
  return BigInt(whole + fraction.padEnd(exponents[currency] ?? 0, "0"));
}

/** Debits minus credits by account, in minor units of one currency. */
type Balances = Record<string, bigint>;

/** Reads a report of one currency: lines like `  -12.34 USD  Liabilities:Merchant:Available`. */
function balancesOf(report: string, currency: string): Balances {
  const lines = [...report.matchAll(/^\s*(-?[\d.]+) ([A-Z]{3})\s+(\S+)$/gm)];
  return Object.fromEntries(lines.map(([, amount = "", , account = ""]) => [account, minorOf(amount, currency)]));
}

function expectBalances(balances: Balances, currency: string): void {
  // What the merchant has is a credit balance, so negative here; programs leave out an account of zero.
  const has = (name: string): bigint => 0n - (balances[`Liabilities:Merchant:${name}`] ?? 0n);
  expect({ available: has("Available"), held: has("Held"), settling: has("Settling") }).toEqual(owned[currency]);
  expect(Object.values(balances).reduce((sum, amount) => sum + amount, 0n)).toBe(0n);
}

/** One digit of one posting is another. */
function altered(text: string): string {
  const changed = text.replace(/(Income:Platform:Fees {2}-\d+\.\d)(\d)/, (_all, head: string, digit: string) => {
    return `${head}${(Number(digit) + 1) % 10}`;
  });
  expect(changed).not.toBe(text);
  return changed;
}

/** A journal moved wholly: it still sums to zero, but the balances after it are not what the book said. */
function shifted(text: string): string {
  const changed = text
    .replace(
      "Assets:Acquirer:Nusantara:Receivable  150000.00 IDR",
      "Assets:Acquirer:Nusantara:Receivable  150000.01 IDR",
    )
    .replace(/(Liabilities:Merchant:Available {2}-\d+)\.00 IDR/, "$1.01 IDR");
  expect(changed).not.toBe(text);
  return changed;
}

/** A book whose texts attack the syntax, with amounts beyond a double's digits, currencies of 0, 2 and 3 digits and a zero balance. */
async function hostileText(format: "hledger" | "beancount"): Promise<string> {
  const book = { merchantId: "mer_00000000000000000000000000", environment: "sandbox" } as const;
  const operationKeys = [
    'x"\n2026-01-01 open Assets:Mine\n',
    "x\n  Assets:Mine  1 IDR\n",
    "a, date:2026-99-99 [2026/99/99=2026/99/99]",
    "; end comment \\ \t\r\0 é \u2028 {{ (( ^ # = 1",
    ":tag: key:: 1/0",
  ];
  const balances = new Map<string, bigint>();
  let prevHash: Buffer = Buffer.alloc(32);
  const journals = Object.keys(exponents).flatMap((currency, at) =>
    operationKeys.map((operationKey, index): Journal => {
      const amount = [1_234n, 900_719_925_474_099_199n, -900_719_925_474_099_199n, -1_234n, 1n][index] ?? 1n;
      const entries = [
        ["acquirer:bank_a:receivable", amount],
        ["acquirer:_:receivable", amount],
        ["merchant:available", -amount],
        ["merchant:available", -amount],
      ].map(([account, amountMinor]) => {
        const name = `${String(account)} ${currency}`;
        const balanceAfterMinor = (balances.get(name) ?? 0n) + BigInt(amountMinor ?? 0);
        balances.set(name, balanceAfterMinor);
        return { account: String(account), currency, amountMinor: BigInt(amountMinor ?? 0), balanceAfterMinor };
      });
      const unhashed = {
        book,
        seq: BigInt(at * operationKeys.length + index + 1),
        journalId: "jrn_00000000000000000000000000",
        groupId: "pay_00000000000000000000000000",
        kind: "capture",
        operationKey,
        postedAt: (Date.UTC(2026, 0, 1) + (at * operationKeys.length + index) * 43_200_000) * 1000,
        prevHash,
        entries,
      };
      prevHash = journalHash(unhashed);
      return { ...unhashed, hash: prevHash };
    }),
  );
  let text = "";
  for await (const chunk of exportBook(format, book, journals)) text += chunk;
  return text;
}

test("the JSON lines of a book add up to the balances that the API tells", () => {
  const sums = Object.fromEntries(
    Object.keys(owned).map((currency) => [currency, { available: 0n, held: 0n, settling: 0n }]),
  );
  const days = new Set<string>();
  for (const line of texts.jsonl.trim().split("\n")) {
    const journal = JSON.parse(line) as {
      posted_at: string;
      entries: { account: string; currency: string; amount_minor: string }[];
    };
    days.add(journal.posted_at.slice(0, 10));
    for (const { account, currency, amount_minor: amount } of journal.entries) {
      const own = sums[currency];
      const name = /^merchant:(available|held|settling)$/.exec(account)?.[1] as
        | keyof NonNullable<typeof own>
        | undefined;
      if (own && name) own[name] -= BigInt(amount);
    }
  }
  expect(sums).toEqual(owned);
  expect(days.size).toBeGreaterThanOrEqual(3);
  expect(Object.keys(owned)).toEqual(["IDR", "USD"]);
});

describe.runIf(isInstalled("python3"))("the program that the guide gives to check the chain", () => {
  const guide = readFileSync(new URL("../docs/guides/operator-api.md", import.meta.url), "utf8");
  const program = /```python\n("""chain\.py [^]*?)```/.exec(guide)?.[1] ?? "";
  const checks = (text: string) =>
    run("python3", ["-c", program, `${service.demo.merchant_id}/sandbox`], text, { LC_ALL: "C" });

  test("comes to the hash of the newest journal", async () => {
    const newest = JSON.parse(texts.jsonl.trim().split("\n").at(-1) ?? "") as { hash: string };
    const { code, stdout, stderr } = await checks(texts.jsonl);
    expect([code, stdout], stderr).toEqual([0, `${service.demo.merchant_id}/sandbox: ${newest.hash}\n`]);
  });

  test("finds an amount, a time and an order that are not those of the book", async () => {
    const [first = "", second = "", ...others] = texts.jsonl.split("\n");
    for (const lines of [
      [first.replace(/"amount_minor":"(-?\d)/, '"amount_minor":"$10'), second],
      [first, second.replace(/(posted_at":"\d{3})\d/, "$10")],
      [second, first],
    ]) {
      const text = [...lines, ...others].join("\n");
      expect(text).not.toBe(texts.jsonl);
      expect((await checks(text)).code).toBe(1);
    }
  });
});

test("every format has every journal, and its last line says how many", () => {
  const count = texts.jsonl.trim().split("\n").length;
  expect(texts.jsonl.match(/"kind":"capture"/g)).toHaveLength(6);
  for (const text of [texts.hledger, texts.beancount]) {
    expect(text.match(/^\d{4}-\d\d-\d\d \* /gm)).toHaveLength(count);
    expect(text).toContain(`end of ${service.demo.merchant_id}/sandbox: ${count} journals\n`);
  }
});

test("a format that is not known is answered with those that are", async () => {
  const { code, stdout, stderr } = await exporting("csv");
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain('--format is hledger, beancount or jsonl, not "csv"');
});

describe.runIf(isInstalled("hledger"))("hledger", () => {
  test("finds the accounts and currencies declared, the days in order and every stated balance right", async () => {
    for (const text of [texts.hledger, await hostileText("hledger")]) {
      for (const check of [["check", "--strict"], ["check", "ordereddates"]]) {
        const { code, stderr } = await run("hledger", ["-f", "-", ...check], text);
        expect(code, stderr).toBe(0);
      }
    }
  }); // prettier-ignore

  test("has the balances that the API tells", async () => {
    for (const currency of Object.keys(owned)) {
      const report = await run("hledger", ["-f", "-", "balance", "--flat", "-N", `cur:${currency}`], texts.hledger);
      expect(report.code, report.stderr).toBe(0);
      expectBalances(balancesOf(report.stdout, currency), currency);
    }
  });

  test("finds a journal by its tag", async () => {
    const journal = JSON.parse(texts.jsonl.split("\n")[0] ?? "") as { group: string };
    const { stdout } = await run("hledger", ["-f", "-", "print", `tag:group=${journal.group}`], texts.hledger);
    expect(stdout.match(/^\d{4}-\d\d-\d\d \* /gm)).toHaveLength(1);
    expect(stdout).toContain(`; group: ${journal.group}`);
  });

  test("refuses a text of which one digit is wrong", async () => {
    expect((await run("hledger", ["-f", "-", "check"], altered(texts.hledger))).code).not.toBe(0);
    const { code, stderr } = await run("hledger", ["-f", "-", "check"], shifted(texts.hledger));
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/balance assertion/i);
  });
});

describe.runIf(isInstalled("ledger"))("Ledger", () => {
  test("reads the same text, knows everything in it, and finds every stated balance right", async () => {
    for (const text of [texts.hledger, await hostileText("hledger")]) {
      const { code, stderr } = await run("ledger", ["-f", "-", "--pedantic", "balance"], text);
      expect(code, stderr).toBe(0);
      expect(stderr).toBe("");
    }
  });

  test("has the balances that the API tells", async () => {
    for (const currency of Object.keys(owned)) {
      const args = ["-f", "-", "balance", "--flat", "--no-total", "--limit", `commodity == "${currency}"`];
      const report = await run("ledger", args, texts.hledger);
      expect(report.code, report.stderr).toBe(0);
      expectBalances(balancesOf(report.stdout, currency), currency);
    }
  });

  test("refuses a text of which one digit is wrong", async () => {
    expect((await run("ledger", ["-f", "-", "balance"], altered(texts.hledger))).code).not.toBe(0);
    const { code, stderr } = await run("ledger", ["-f", "-", "balance"], shifted(texts.hledger));
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/balance assertion off by -?0\.01 IDR/i);
  });
});

/** Beancount reads files. */
function fileOf(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

describe.runIf(isInstalled("bean-check"))("Beancount", () => {
  test("finds nothing wrong", async () => {
    for (const text of [texts.beancount, await hostileText("beancount")]) {
      const { code, stdout, stderr } = await run("bean-check", [fileOf("whole.beancount", text)]);
      expect(code, stdout + stderr).toBe(0);
      expect(stdout + stderr).toBe("");
    }
  });

  test("refuses a text of which one digit is wrong", async () => {
    const unbalanced = await run("bean-check", [fileOf("altered.beancount", altered(texts.beancount))]);
    expect(unbalanced.code).not.toBe(0);
    const { code, stdout, stderr } = await run("bean-check", [fileOf("shifted.beancount", shifted(texts.beancount))]);
    expect(code).not.toBe(0);
    expect(stdout + stderr).toMatch(/Balance failed/);
  });

  test.runIf(isInstalled("bean-query"))("has the balances that the API tells", async () => {
    const query = "select account, currency, sum(number) as total group by account, currency";
    const path = fileOf("balances.beancount", texts.beancount);
    const { code, stdout, stderr } = await run("bean-query", ["-f", "csv", path, query]);
    expect(code, stderr).toBe(0);
    const rows = [...stdout.matchAll(/^([A-Z][\w:-]+) *, *([A-Z]{3}) *, *(-?[\d.]+) *\r?$/gm)];
    for (const currency of Object.keys(owned)) {
      const own = rows.filter(([, , code]) => code === currency);
      expectBalances(
        Object.fromEntries(own.map(([, account, , total]) => [account, minorOf(total ?? "", currency)])),
        currency,
      );
    }
  });
});
