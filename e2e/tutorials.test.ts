// Goal: who follows the tutorial and the guides by task from an empty folder sees what they promise, in each language. Method: their programs are
// saved and their commands typed, in their order, beside one running service. Python and PHP are skipped where they are not on the machine.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { words } from "../gateway/src/checkout/words.ts";
import { disputeTransitions } from "../gateway/src/disputes/dispute.ts";
import { transitions } from "../gateway/src/payments/states.ts";
import { sign } from "../sdk/src/verify.ts";
import { Client, operate, settledLate } from "./kit/client.ts";
import { Follower, blocksOf, languages } from "./kit/follower.ts";

const commandsOf = (page: string): string[] =>
  blocksOf(page)
    .filter(({ language }) => language === "sh")
    .map(({ code }) => code);
const sectionOf = (page: string, language: string, at = 0): string =>
  blocksOf(page).filter((block) => block.language === language)[at]?.code ?? "";

/** Another at each try: the service keeps what an earlier one paid. */
const newOrder = (): string => `order-${randomBytes(6).toString("hex")}`;

describe.runIf(languages.shell)("who follows the guides", () => {
  let follower: Follower;
  beforeAll(async () => {
    follower = await Follower.begin();
    // Steps 1 and 2 of the tutorial, which every other page begins with.
    const [start, keys = "", library = "", files = ""] = commandsOf("five-minutes.md");
    expect(start?.trim()).toBe("npm ci && npm start"); // that one is running already
    await follower.typeInService(keys);
    await follower.type(library);
    await follower.type(files);
  });
  afterEach(() => follower.stopPrograms());
  afterAll(() => follower.end());

  test.runIf(languages.python)(
    "reconciles yesterday in Python: the five mistakes are found, and nothing once they are corrected",
    async () => {
      const [library = "", day = "", reconcile = "", ...others] = commandsOf("reconcile-in-python.md");
      expect(others).toEqual([]);
      await follower.type(library);
      expect(follower.save("reconcile-in-python.md")).toEqual(["day.py", "reconcile.py"]);
      // The sandbox's time is noon in Jakarta: whenever this runs, no day of the shop ends while it sells.
      const seconds = 86_400 - ((Math.floor(Date.now() / 1000) - 5 * 3600) % 86_400);
      const advanced = await new Client(follower.service.demo).post("/v1/sandbox/clock/advance", { seconds });
      expect(advanced.status, advanced.text).toBe(200);
      await follower.type(day);
      const { code, stdout } = await follower.typeAndFail(reconcile);
      expect(code).toBe(1);
      // The page shows what is printed, with other names and another day.
      const plain = (text: string): string =>
        text
          .replaceAll(/order-[0-9a-f]{8}/g, "order")
          .replaceAll(/(pay|set)_\w+/g, "$1")
          .replaceAll(/GB\w+/g, "GB")
          .replaceAll(/\d{4}-\d\d-\d\d/g, "day");
      expect(plain(stdout)).toBe(plain(sectionOf("reconcile-in-python.md", "text")));
      const file = join(follower.shop, "orders.csv");
      const corrected = readFileSync(file, "utf8")
        .replace(",7000000", ",7500000")
        .replaceAll(/^.*-[45],.*\r\n/gm, "")
        .replace(/^(.*)-7,7500000,2500000/m, "$1-6,7500000,0\r\n$1-7,7500000,0");
      writeFileSync(file, corrected);
      expect(await follower.type(reconcile)).toContain("Everything agrees.");
      // As a spreadsheet saves it: with a mark before the first name, with semicolons, with amounts in rupiah.
      writeFileSync(file, `\uFEFF${corrected}`);
      expect(await follower.type(reconcile)).toContain("Everything agrees.");
      for (const [saved, why] of [
        [corrected.replaceAll(",", ";"), "its first line must be reference_id,amount_minor,refunded_minor"],
        [corrected.replace("7500000", "75000.00"), "must be digits alone"],
      ] as const) {
        writeFileSync(file, saved);
        const failed = await follower.typeAndFail(reconcile);
        expect([failed.code, failed.stderr]).toEqual([2, expect.stringContaining(why)]);
      }
      const early = await follower.typeAndFail(`${reconcile.trim()} 2100-01-01`);
      expect([early.code, early.stderr]).toEqual([2, expect.stringContaining("is not over")]);
      const keyless = await follower.typeAndFail(`env -u GERBANG_SECRET ${reconcile.trim()}`);
      expect([keyless.code, keyless.stderr]).toEqual([2, "secret is missing: pass it, or set GERBANG_SECRET\n"]);
      // A refund that the shop does not know, of a payment of another day.
      writeFileSync(file, corrected.replace(/^[^\n]*-0,[^\n]*\n/m, ""));
      const unknown = await follower.typeAndFail(reconcile);
      expect(plain(unknown.stdout)).toContain(plain(sectionOf("reconcile-in-python.md", "text", 1)));
      // A statement whose sum is right, and whose lines are not.
      const doctored = `
        import reconcile
        batch = next(one for one in reconcile.gerbang.settlements.list() if one["refund_minor"])
        lines, total = reconcile.statement(batch)
        dispute = next(line for line in lines if line["kind"] == "dispute")
        payment = next(line for line in lines if line["kind"] == "payment")
        receipt = {**payment, "kind": "receipt", "id": "rcp_1", "gross_minor": 1_000_000, "fee_minor": 0, "net_minor": 1_000_000}
        sums = {"gross_minor": int(total["gross_minor"]) + 1_000_000, "dispute_minor": 2 * int(dispute["dispute_minor"])}
        dearer = {"gross_minor": int(payment["gross_minor"]) + 1, "fee_minor": int(payment["fee_minor"]) + 1}
        wrong = {"gross_minor": batch["gross_minor"] + 1, "fee_minor": batch["fee_minor"] + 1}
        for each, sum, of in [
            (lines, total, batch),
            ([*lines, dispute, receipt], {**total, **sums}, batch),
            ([{**line, **dearer} if line is payment else line for line in lines], {**total, **wrong}, {**batch, **wrong}),
            ([{**line, "net_minor": 0} if line is payment else line for line in lines], total, batch),
            (lines, total, {**batch, **wrong}),
        ]:
            print(*reconcile.against_statement(of, each, sum, {}, {}, {}), sep="; ")
        entries = list(reconcile.gerbang.balances.entries("IDR", figure="available"))
        newest, now = entries[0], entries[0]["figure_after_minor"]
        formed = next(one for one in entries if one["kind"] == "settlement_formed")
        for found in [
            reconcile.against_figure(now, entries),
            reconcile.against_figure(now + 1, entries),
            reconcile.against_figure(now, [{**newest, "amount_minor": newest["amount_minor"] + 1}, *entries[1:]]),
            reconcile.against_batch(formed),
            reconcile.against_batch({**formed, "amount_minor": formed["amount_minor"] + 1}),
            reconcile.against_balance(reconcile.date.today(), [{**formed, "kind": "levy"}], {}, {}, [], []),
        ]:
            print(*found, sep="; ")
        captures = {one["object"] for one in entries if one["kind"] == "capture"}
        days = {reconcile.day_of(one["posted_at"]) for one in entries if one["kind"] == "capture"}
        reconcile.in_rupiah = lambda objects: []  # as if all were created long before
        print({one for day in days for one in reconcile.paid_on(day, captures)} == captures)`;
      writeFileSync(join(follower.shop, "doctored.py"), doctored.replaceAll(/^ {8}/gm, ""));
      const found = (await follower.type("python3 doctored.py")).replaceAll(/(pay|set|dsp)_\w+/g, "$1");
      const adds = "set: its lines do not add up to Rp 305,250.00";
      expect(found.split("\n")).toEqual([
        "",
        `set: dsp stands in it twice; ${adds}`,
        "set: its line of pay differs from the payment",
        `set: its line of pay differs from the payment; ${adds}`,
        adds,
        "",
        expect.stringMatching(/^balance: -?Rp [\d,.]+ is available, and no entry leads there$/),
        expect.stringMatching(/^balance: entry \d+-\d+ does not lead from -?Rp [\d,.]+ to -?Rp [\d,.]+$/),
        "",
        expect.stringMatching(/^balance: settlement_formed of set moved -Rp [\d,.]+, and the batch is of Rp [\d,.]+$/),
        expect.stringMatching(/^balance: levy moved -Rp [\d,.]+, a kind that this script does not know$/),
        "True",
        "",
      ]);
      // A payout that the bank returned waits for no transfer.
      const { demo } = follower.service;
      const client = new Client(demo);
      const late = { amount_minor: 7_500_000, currency: "IDR", payment_method: "qris", reference_id: "returned" };
      const { json: payment } = await client.post("/v1/payments", late);
      await client.post(`/v1/sandbox/payments/${payment.reference}/simulate`, { outcome: "succeeded" });
      const { json: run } = await client.post("/v1/sandbox/settlements/run", {});
      const batch = `/merchants/${demo.merchant_id}/books/sandbox/settlements/${run.data[0].uuid}`;
      await operate(demo, "POST", `${batch}/return`, {});
      const returned = await follower.typeAndFail(reconcile);
      expect(returned.stdout).toMatch(/set_\w+: failed, .*\n +your bank shows nothing: it returned this payout\n/);
    },
  );

  const runs = {
    ts: (name: string) => `node ${name}.mjs`,
    python: (name: string) => `python3 ${name}.py`,
    php: (name: string) => `php ${name}.php`,
  };
  for (const language of ["ts", "python", "php"] as const)
    test.runIf(language === "ts" || languages[language])(`has money in five minutes: ${language}`, async () => {
      const [, , , , pay = "", receive = "", listen = "", play = "", refund = "", ...others] =
        commandsOf("five-minutes.md");
      expect(others).toEqual([]);
      expect(follower.save("five-minutes.md")).toHaveLength(12);
      /** The command of this language, of those that a line offers. */
      const own = (line: string): string => {
        const [first = "", ...rest] = line.trim().split(/ +# or: | +or: | +# /);
        const program = /^node (\w+)\.mjs/.exec(first)?.[1] ?? "";
        const offered = [first, ...rest].find((one) => one.startsWith(runs[language](program).split(" ")[0] ?? ""));
        return offered ?? first.replace(runs.ts(program), runs[language](program));
      };
      const [reference = "", page = ""] = (await follower.type(own(pay))).trim().split("\n");
      expect(reference).toMatch(/^pay_/);
      expect((await fetch(page)).status).toBe(200);
      await follower.start(own(receive));
      await follower.start(listen);
      expect((await follower.type(own(play).replace("pay_…", reference))).trim()).toBe("succeeded");
      await follower.sees(sectionOf("five-minutes.md", "text", 1).trim());
      const refunded = await follower.type(own(refund).replace("pay_…", reference));
      expect(refunded).toContain(sectionOf("five-minutes.md", "text", 2).split("\n")[0]);
      expect(refunded).toMatch(/^\d+ IDR available$/m);
      await follower.sees("refund.succeeded succeeded");
    });

  test("finds the money where the page about it says, after each step, and in the export of the book", async () => {
    const { demo } = follower.service;
    const { merchant_id: merchant } = await operate(demo, "POST", "/merchants", { name: "Kopi Kita" });
    await operate(demo, "PATCH", `/merchants/${String(merchant)}`, settledLate);
    const key = await operate(demo, "POST", `/merchants/${String(merchant)}/credentials`, { environment: "sandbox" });
    const client = new Client({ ...demo, client_id: String(key.client_id), secret: String(key.secret) });
    const post = async (path: string, body: object = {}): Promise<Record<string, string>> =>
      (await client.post(path, body)).json;
    const body = { amount_minor: 7_500_000, currency: "IDR", payment_method: "qris", reference_id: "order-1" };
    const { reference } = await post("/v1/payments", body);
    await post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
    await post("/v1/refunds", { payment_reference: reference, amount_minor: 2_500_000 });
    const contested = { reason: "general", amount_minor: 1_000_000 };
    const { uuid } = await post(`/v1/sandbox/payments/${reference}/dispute`, contested);
    await post(`/v1/sandbox/disputes/${uuid}/resolve`, { outcome: "lost" });
    const formed = (await client.post("/v1/sandbox/settlements/run", {})).json;
    const [batch] = formed.data;
    expect(batch).toMatchObject({
      gross_minor: 7_500_000,
      fee_minor: 52_500,
      refund_minor: 3_500_000,
      net_minor: 3_947_500,
    });
    await post(`/v1/sandbox/settlements/${batch.uuid}/pay`);

    const page = readFileSync(new URL("../docs/concepts/money.md", import.meta.url), "utf8");
    const told = [...page.matchAll(/^\| \d\. [^|]+\| `(\w+)` \|([\d |]+)\|$/gm)].map(([, kind, figures = ""]) => [
      kind,
      ...figures.split("|").map(Number),
    ]);
    const [exported = "", verify = ""] = /```sh\n([^]*?)\n```/.exec(page)?.[1]?.split("\n") ?? [];
    const own = (command: string): string => command.replace("mer_…", String(merchant));
    expect(await follower.typeInService(own(exported))).toContain("Liabilities:Merchant:Available");
    expect(await follower.typeInService(own(verify))).toContain('"clean":true');
    const lines = await follower.typeInService(own(exported).replace("hledger", "jsonl"));
    const sums = new Map<string, number>();
    const found = lines
      .trim()
      .split("\n")
      .map((line) => {
        const { kind, entries } = JSON.parse(line) as {
          kind: string;
          entries: { account: string; amount_minor: string }[];
        };
        for (const { account, amount_minor: amount } of entries) {
          const name = account.replace(/:\w+:receivable$/, "");
          sums.set(name, (sums.get(name) ?? 0) + Number(amount));
        }
        const credits = ["merchant:available", "merchant:held", "merchant:settling", "platform:fees", "platform:bank"];
        const figures = credits.map((name) => 0 - (sums.get(name) ?? 0));
        return [kind, sums.get("acquirer") ?? 0, ...figures];
      });
    expect(found).toEqual(told);
    for (const [, owed, ...rest] of told) expect(rest.reduce((sum: number, one) => sum + Number(one), 0)).toBe(owed);
  });

  /** What sample data names, in the receiver test and elsewhere. */
  const sample = { reference_id: "sample-order", payment_reference: "pay_01m8qbmctgfhs808ebpxn46v7j", sample: true };

  /** Delivers an event to the shop; gives the status of its answer. */
  async function deliver(type: string, data: object): Promise<number> {
    const secret = await follower.type('printf %s "$GERBANG_WEBHOOK_SECRET"');
    const event = { id: "evt_1", type, data };
    const { body, headers } = await sign({ secret, event });
    return (await fetch(`http://localhost:${follower.port}/webhooks`, { method: "POST", headers, body })).status;
  }

  /** Presses the button of the shop's first page. */
  async function pressBuy(): Promise<Response> {
    const shop = `http://localhost:${follower.port}`;
    const [, order = ""] =
      /<form method="post" action="\/orders"><button name="order" value="([\w-]+)">/.exec(
        await (await fetch(shop)).text(),
      ) ?? [];
    return fetch(`${shop}/orders`, { method: "POST", body: new URLSearchParams({ order }) });
  }

  /** Buys in the shop, lets the payer do something, and waits until the order's page and the terminal say what came of it. */
  async function buy(outcome: "succeeded" | "failed", says: string): Promise<string> {
    const shop = `http://localhost:${follower.port}`;
    const bought = await pressBuy();
    const text = await bought.text();
    const [, url = ""] = /<a href="(http[^"]+\/pay\/[^"]+)"/.exec(text) ?? [];
    expect((await fetch(url)).status).toBe(200);
    const [order = ""] = /order-[0-9a-f]{12}/.exec(bought.url + text) ?? [];
    const client = new Client(follower.service.demo);
    const { json } = await client.get(`/v1/payments?reference_id=${order}`);
    await client.post(`/v1/sandbox/payments/${json.data[0].reference}/simulate`, { outcome });
    await follower.sees(`${order} is ${says}`);
    await vi.waitFor(
      async () => expect(await (await fetch(`${shop}/orders/${order}`)).text()).toContain(`Your order is ${says}`),
      30_000,
    );
    return order;
  }

  test("has a shop in Express: an order paid by QRIS turns to paid, a declined one does not, a refund goes back once, and a forged webhook changes nothing", async () => {
    const [install = "", start = "", listen = "", twice = "", ...others] = commandsOf("express-shop.md");
    expect(others).toEqual([]);
    await follower.type(install);
    expect(follower.save("express-shop.md")).toEqual(["shop.mjs", "twice.mjs"]);
    await follower.start(start);
    expect((await follower.typeAndFail(start)).stderr).toContain("EADDRINUSE");
    await follower.start(listen);
    await buy("succeeded", "paid");
    const declined = await buy("failed", "not paid");
    const refunded = await buy("succeeded", "paid");
    const refund = (order: string): Promise<Response> =>
      fetch(`http://localhost:${follower.port}/orders/${order}/refund`, { method: "POST", redirect: "manual" });
    const pressed = await Promise.all([refund(refunded), refund(refunded)]);
    expect(pressed.map(({ status }) => status)).toEqual([303, 303]);
    await follower.sees(`${refunded} is refunded`);
    expect(follower.printed.split(`${refunded} is refunded`)).toHaveLength(2);
    expect(await (await fetch(`http://localhost:${follower.port}/orders/${refunded}`)).text()).not.toContain("/refund");
    expect((await refund(declined)).status).toBe(409);
    // An order whose payment is paid before the shop has its answer, or when a part has gone back elsewhere.
    const early = newOrder();
    const kept = await fetch(`http://localhost:${follower.port}/orders`, {
      method: "POST",
      body: new URLSearchParams({ order: early }),
      redirect: "manual",
    });
    expect(kept.status).toBe(303);
    const client = new Client(follower.service.demo);
    const body = { amount_minor: 7_500_000, currency: "IDR", payment_method: "qris", reference_id: early };
    const { reference } = (await client.post("/v1/payments", body)).json;
    await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
    await follower.sees(`${early} is paid`);
    await client.post("/v1/refunds", { payment_reference: reference, amount_minor: 1 });
    const refusal = await refund(early);
    expect([refusal.status, await refusal.text()]).toEqual([
      409,
      expect.stringContaining("Not refunded: REFUND_EXCEEDS_PAYMENT"),
    ]);
    // An order whose payment ended before the shop knew of it, so that its webhook told the shop nothing.
    const missed = newOrder();
    const { reference: ended } = (await client.post("/v1/payments", { ...body, reference_id: missed })).json;
    await client.post(`/v1/sandbox/payments/${ended}/simulate`, { outcome: "succeeded" });
    const [{ id: told }] = (await client.get("/v1/events?type=payment.succeeded&limit=1")).json.data;
    await follower.sees(told);
    await fetch(`http://localhost:${follower.port}/orders`, {
      method: "POST",
      body: new URLSearchParams({ order: missed }),
    });
    await follower.sees(`${missed} is paid`);
    // A refund that is told before its payment; and sample data, which is about a payment that nobody has.
    const overtaken = newOrder();
    const given = (await client.post("/v1/payments", { ...body, reference_id: overtaken })).json;
    await client.post(`/v1/sandbox/payments/${given.reference}/simulate`, { outcome: "succeeded" });
    const back = (await client.post("/v1/refunds", { payment_reference: given.reference })).json;
    const [{ id: last }] = (await client.get("/v1/events?type=refund.succeeded&limit=1")).json.data;
    await follower.sees(last);
    await fetch(`http://localhost:${follower.port}/orders`, {
      method: "POST",
      body: new URLSearchParams({ order: overtaken }),
      redirect: "manual",
    });
    expect(await deliver("refund.succeeded", back)).toBe(200);
    expect(await deliver("payment.succeeded", { ...given, status: "succeeded" })).toBe(200);
    expect(await (await fetch(`http://localhost:${follower.port}/orders/${overtaken}`)).text()).toContain(
      "is refunded",
    );
    expect(await deliver("refund.succeeded", { ...back, ...sample })).toBe(200);
    const forged = await fetch(`http://localhost:${follower.port}/webhooks`, { method: "POST", body: "{}" });
    expect(forged.status).toBe(401);
    expect((await fetch(`http://localhost:${follower.port}/orders/order-of-nobody`)).status).toBe(404);
    const refused = await fetch(`http://localhost:${follower.port}/orders`, { method: "POST" });
    expect(refused.status).toBe(404);
    const bought = await pressBuy();
    expect(await bought.text()).toMatch(/<h1>Please pay<\/h1><svg /);
    const [order = ""] = /order-[0-9a-f]{12}/.exec(bought.url) ?? [];
    expect(await follower.type(twice.replace("order-…", order))).toBe(sectionOf("express-shop.md", "text", 1));
    await follower.sees(`${order} is paid`);
    expect(follower.printed.split(`${order} is paid`)).toHaveLength(2);
  });

  test("uses the library as its page shows: errors, keys, lists, four frameworks and tests", async () => {
    const { code: typed = "" } = blocksOf("client-library.md").findLast(({ language }) => language === "sh") ?? {};
    const [
      errors = "",
      keys = "",
      lost = "",
      lists = "",
      express = "",
      fastify = "",
      hono = "",
      next = "",
      claims = "",
      ...tests
    ] = follower.save("client-library.md");
    await follower.type("npm install express fastify hono");
    for (const page of ["client-library.md", "five-minutes.md"]) expect(await follower.mistypedOf(page), page).toBe("");
    const said = await follower.type([errors, keys, lost, lists].map((file) => `node ${file}`).join("\n"));
    const promised = [0, 1, 2].map((at) => sectionOf("client-library.md", "text", at)).join("");
    expect(said.startsWith(promised), said).toBe(true);
    expect(said.slice(promised.length)).toMatch(/^pay_\w+ \d+ IDR\n2 true\n$/);
    /** What comes of a genuine delivery and of a forged one. */
    const statuses = (to: string): Promise<string> => {
      const program = `
        import { sign } from "@gerbang/sdk/webhooks";
        const send = ${to};
        for (const secret of [process.env.GERBANG_WEBHOOK_SECRET, "whsec_c29tZWJvZHkgZWxzZQ=="]) {
          const delivery = await sign({ secret, event: { id: "evt_1", type: "payment.succeeded" } });
          const request = new Request("http://localhost:${follower.port}/webhooks", { method: "POST", ...delivery });
          console.log((await send(request)).status);
        }`;
      writeFileSync(join(follower.shop, "deliver.mjs"), program);
      return follower.type("node deliver.mjs");
    };
    for (const file of [express, fastify]) {
      await follower.start(`node ${file}`);
      expect(await statuses("fetch"), file).toBe("200\n401\n");
      await follower.stopPrograms();
    }
    expect(
      await follower.type(`node -e "import('./${claims}').then(({ store }) => console.log(store.claim('evt_1')))"`),
    ).toBe("true\n");
    expect(await statuses(`(await import("./${hono}")).default.fetch`)).toBe("payment.succeeded\n200\n401\n");
    expect(await statuses(`(await import("./${next}")).POST`)).toBe("payment.succeeded\n200\n401\n");
    expect(typed.trim()).toBe(`node --test ${tests.join(" ")}`);
    // The second of them starts a service of its own.
    await follower.type(typed);
  });

  test.runIf(languages.php)(
    "has a PHP page that takes cards: the same, and who comes back sees it without a webhook",
    async () => {
      const [install = "", start = "", listen = "", twice = "", ...others] = commandsOf("php-card-page.md");
      expect(others).toEqual([]);
      await follower.type(install);
      expect(follower.save("php-card-page.md")).toEqual(["shop.php", "twice.php"]);
      await follower.start(start);
      const shop = `http://localhost:${follower.port}`;
      const shown = async (order: string): Promise<string> => (await fetch(`${shop}/orders/${order}`)).text();
      const client = new Client(follower.service.demo);
      const paymentsOf = async (order: string): Promise<Record<string, string>[]> =>
        (await client.get(`/v1/payments?reference_id=${order}`)).json.data;
      // Who presses twice buys once; the payment's page leads back to the order.
      const press = (order: string): Promise<Response> =>
        fetch(`${shop}/orders`, { method: "POST", body: new URLSearchParams({ order }) });
      const order = newOrder();
      expect([(await press(order)).url, (await press(order)).url]).toEqual(Array(2).fill(`${shop}/orders/${order}`));
      const [, page = ""] = /<h1>Please pay<\/h1><p><a href="(http[^"]+\/pay\/[^"]+)"/.exec(await shown(order)) ?? [];
      const [payment, ...more] = await paymentsOf(order);
      expect(more).toEqual([]);
      const { reference } = payment ?? {};
      for (const [outcome, says] of [
        ["processing", "Your payment is on its way."],
        ["succeeded", "Your order is paid"],
      ] as const) {
        await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome });
        expect(await shown(order)).toContain(says);
      }
      expect(await paymentsOf(order)).toHaveLength(1);
      expect(await (await fetch(page)).text()).toContain(`data-back="${shop}/orders/${order}"`);
      // Who comes back may have paid a moment ago: while the payment is pending the page looks again, but not for ever.
      const waits = newOrder();
      expect(await (await press(waits)).text()).toContain('content="5; url=?looks=1"');
      expect(await shown(`${waits}?looks=5`)).toContain('content="5; url=?looks=6"');
      const last = await shown(`${waits}?looks=6`);
      expect(last).toContain("Do not pay again");
      expect(last).not.toContain("http-equiv");
      // Paid and given back before the shop heard of it: a part makes no difference, the whole is not delivered.
      for (const [id, amount, says] of [
        [waits, 2_500_000, "Your order is paid"],
        [newOrder(), undefined, "Your order is refunded"],
      ] as const) {
        await press(id);
        const [found] = await paymentsOf(id);
        await client.post(`/v1/sandbox/payments/${found?.reference}/simulate`, { outcome: "succeeded" });
        const given = { payment_reference: found?.reference, ...(amount && { amount_minor: amount }) };
        expect((await client.post("/v1/refunds", given)).json.status).toBe("succeeded");
        expect(await shown(id)).toContain(says);
      }
      /** The page of an open order and its status, without the server, which keeps a program for some seconds. */
      const asked = (order: string, file: string, settings = ""): Promise<string> => {
        writeFileSync(join(follower.shop, "orders", order), "open");
        const program = `$_SERVER = ['REQUEST_METHOD' => 'GET', 'REQUEST_URI' => '/orders/${order}']; require '${file}'; echo http_response_code();`;
        return follower.type(`${settings} php -d error_log=refused.log -r "${program.replaceAll("$", "\\$")}"`);
      };
      // What is refused is refused again: a rejected payment ends its order, and a field that breaks its rule reloads nothing.
      const sold = "'description' => 'A bag of coffee',";
      const written = readFileSync(join(follower.shop, "shop.php"), "utf8");
      for (const [id, customer, says] of [
        [newOrder(), "'email' => 'eve@reject.test'", /Your order is not paid.*200$/],
        [newOrder(), "'phone' => '081234567890'", /Paying is not possible right now. Please tell us.*502$/],
      ] as const) {
        const changed = written.replace(sold, `${sold} 'customer' => [${customer}],`);
        writeFileSync(join(follower.shop, "refused.php"), changed);
        const page = await asked(id, "refused.php");
        expect(page).toMatch(says);
        expect(page).not.toContain("http-equiv");
      }
      await follower.start(listen);
      await buy("succeeded", "paid");
      await buy("failed", "not paid");
      const { url } = await pressBuy();
      const open = url.split("/").at(-1) ?? "";
      expect(await follower.type(twice.replace("order-…", open))).toBe(sectionOf("php-card-page.md", "text", 1));
      expect(follower.printed.split(`${open} is paid`)).toHaveLength(2);
      // Pressed twice at once it is given back once, when there is something left to give back.
      const returned = await buy("succeeded", "paid");
      const refund = (id: string): Promise<Response> =>
        fetch(`${shop}/orders/${id}/refund`, { method: "POST", redirect: "manual" });
      expect(await shown(returned)).toContain(`action="/orders/${returned}/refund"`);
      const pressed = await Promise.all([refund(returned), refund(returned)]);
      expect(pressed.map(({ status }) => status)).toEqual([303, 303]);
      await follower.sees(`${returned} is refunded`);
      expect(await shown(returned)).toMatch(/<h1>Your order is refunded<\/h1><p>/);
      expect((await refund(returned)).status).toBe(409);
      expect((await refund(newOrder())).status).toBe(409);
      const partly = await refund(waits);
      expect([partly.status, await partly.text()]).toEqual([409, expect.stringContaining("REFUND_EXCEEDS_PAYMENT")]);
      expect(await deliver("refund.succeeded", { ...sample, status: "succeeded" })).toBe(200);
      const forged = await fetch(`${shop}/webhooks`, { method: "POST", body: "{}" });
      expect([forged.status, (await fetch(`${shop}/orders/order-..%2F..%2Fetc`)).status]).toEqual([401, 404]);
      expect((await press("../../etc/passwd")).status).toBe(404);
      // A server with several workers: of equal deliveries at one moment one changes the order.
      await follower.stopPrograms();
      await follower.start(`export PHP_CLI_SERVER_WORKERS=4; ${start}`);
      const pay = (id: string): Promise<number> =>
        deliver("payment.succeeded", { reference_id: id, status: "succeeded" });
      const opened = (): string => {
        const id = newOrder();
        writeFileSync(join(follower.shop, "orders", id), "open");
        return id;
      };
      // Another worker has the order and marks it: this one waits for it, and says nothing.
      const held = opened();
      const other = spawn("php", [
        "-r",
        '$f = fopen($argv[1], "c+"); flock($f, LOCK_EX); echo "held"; fgets(STDIN); fwrite($f, "paid");',
        join(follower.shop, "orders", held),
      ]);
      await once(other.stdout, "data");
      let isAnswered = false;
      const answer = pay(held).finally(() => (isAnswered = true));
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(isAnswered).toBe(false);
      other.stdin.end("\n");
      expect(await answer).toBe(200);
      // Equal deliveries at one moment: one says it.
      const equal = opened();
      expect(await Promise.all([1, 2, 3, 4].map(() => pay(equal)))).toEqual([200, 200, 200, 200]);
      expect(readFileSync(join(follower.shop, "orders", equal), "utf8")).toBe("paid");
      await follower.sees(`${equal} is paid`);
      expect(follower.printed.split(`${equal} is paid`)).toHaveLength(2);
      expect(follower.printed).not.toContain(`${held} is paid`);
      // An order that cannot be written down sends nobody on, and without its secret the shop takes no event for handled.
      await follower.type("mv orders elsewhere && touch orders");
      expect((await press(newOrder())).status).toBe(500);
      await follower.type("rm orders && mv elsewhere orders");
      await follower.stopPrograms();
      await follower.start(`unset GERBANG_WEBHOOK_SECRET; ${start}`);
      expect((await fetch(`${shop}/webhooks`, { method: "POST", body: "{}" })).status).toBe(500);
      // Without its keys it says so to the log alone.
      const refused = await asked(newOrder(), "shop.php", "GERBANG_CLIENT_ID=");
      expect(refused).toContain("Paying is not possible right now.");
      expect(refused).toMatch(/502$/);
      expect(await follower.type("cat refused.log")).toContain("client_id is missing");
    },
  );
});

test.each([
  ["payment", transitions],
  ["dispute", disputeTransitions],
])("the page about the life of a %s lists every way from one state to another, and no other", (page, known) => {
  const text = readFileSync(new URL(`../docs/concepts/${page}.md`, import.meta.url), "utf8");
  const told = [...text.matchAll(/^\| `(\w+)` \| `(\w+)` \|/gm)].map(([, from, to]) => `${from} ${to}`);
  const ways = Object.entries<readonly string[]>(known).flatMap(([from, all]) => all.map((to) => `${from} ${to}`));
  expect(told.toSorted()).toEqual(ways.toSorted());
});

test.each(["five-minutes", "payers-page", "webhooks"])(
  "%s in Indonesian has the programs, headings, names and links of the English page: only its words differ",
  (page) => {
    const of = (file: string): unknown => {
      const text = readFileSync(new URL(`../docs/guides/${file}`, import.meta.url), "utf8");
      const prose = text.replaceAll(/^```[^]*?^```$/gm, "");
      const code = blocksOf(file).map((block) => block.code);
      return {
        code: code.map((block) => block.replaceAll(/ +(\/\/|#) .*$|^\/\*\*.*$/gm, "")),
        headings: [...prose.matchAll(/^(#+) /gm)].map(([, level]) => level),
        rows: [...prose.matchAll(/^\|/gm)].length,
        names: new Set([...prose.matchAll(/`([^`\n]+)`/g)].map(([, name]) => name)),
        links: new Set(
          [...prose.matchAll(/\]\(([^#)][^)]*)\)/g)]
            .map(([, to = ""]) => to.replace(".id.md", ".md"))
            .filter((to) => to !== `/docs/${page}`), // the other language
        ),
      };
    };
    expect(of(`${page}.id.md`)).toEqual(of(`${page}.md`));
  },
);

test.each([
  ["payers-page.md", "five-minutes.md", words.en],
  ["payers-page.id.md", "five-minutes.id.md", words.id],
] as const)("%s and %s name what the payer's page says and its buttons in its own words", (page, tutorial, its) => {
  const [text, steps] = [page, tutorial].map((name) =>
    readFileSync(new URL(`../docs/guides/${name}`, import.meta.url), "utf8"),
  ) as [string, string];
  const said = Object.values(its.faces).map((face) => face.split(".")[0]);
  for (const face of [...said, its.errors.lost.title, its.errors.busy.title])
    expect(text).toMatch(new RegExp(`^\\|[^|]*\\b${face}\\b[^|]*\\|`, "im"));
  for (const button of [its.approve, its.decline]) expect(text).toContain(`**${button}**`);
  expect(steps).toContain(`**${its.approve}**`);
});

test.each([
  "five-minutes.md",
  "five-minutes.id.md",
  "client-library.md",
  "express-shop.md",
  "php-card-page.md",
  "reconcile-in-python.md",
])("in %s words stand between a program and the command that runs it: they would be tabs of one example", (page) => {
  const text = readFileSync(new URL(`../docs/guides/${page}`, import.meta.url), "utf8");
  expect(text).toMatch(/^```sh$/m);
  expect(text).not.toMatch(/^```(?:ts|python|php)\n(?:(?!```).*\n)*```\n+```sh$/m);
});
