// Goal: an operator decides what waits, by keyboard where there is much of it, and what needs two is done by two. Method: whole stories in a real
// browser at the operators' listener; two operators are two browsers that share nothing.
import { expect, test } from "vitest";
import { asOwner, paymentBody } from "../../gateway/test/kit.ts";
import { report, scriptedAcquirer } from "../../gateway/test/scripted-acquirer.ts";
import type { ReportedState } from "../../gateway/src/acquirers/acquirer.ts";
import { readConfig } from "../../gateway/src/ground/config.ts";
import { uuidOf } from "../../gateway/src/ground/ids.ts";
import { at } from "../../portal/src/console/paths.ts";
import { faultsIn, showIn } from "./kit/look.ts";
import { PHONE, isClean, settled, usePortal } from "./kit/portal.ts";

const bank = scriptedAcquirer("merbabu", "production");
const portal = usePortal({
  acquirers: [bank],
  config: { ...readConfig({ NODE_ENV: "test" }), productionActive: true },
});

/** Payments under review, of one merchant. */
async function reviews(count: number): Promise<string[]> {
  const { client } = await portal.service.merchant({ name: "Kopi Melati" });
  const made: string[] = [];
  for (let order = 1; order <= count; order++) {
    const customer = { name: "Sari", email: `sari${order}@review.test` };
    const body = paymentBody({ amount_minor: 5_000_000 + order, reference_id: `order-${order}`, customer });
    const { json } = await client.post("/v1/payments", body);
    made.push(json.error.details.reference as string);
  }
  return made;
}

/** A paid sandbox payment whose merchant has money of others, too. */
async function sold(amount_minor: number): Promise<{ reference: string; merchantId: string }> {
  const { client, merchantId } = await portal.service.merchant({ name: "Toko Senja" });
  const pay = async (): Promise<string> => {
    const { reference } = (await client.post("/v1/payments", paymentBody({ amount_minor }))).json;
    await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
    return reference as string;
  };
  await pay();
  return { reference: await pay(), merchantId };
}

async function lateMoney(): Promise<string> {
  const { service } = portal;
  const rules = ["merbabu", "cendana"].map((gateway_code) => ({ gateway_code, priority: 1, weight: 1 }));
  const { version } = await service.operate("POST", "/routing/rules", { rules });
  await service.operate("POST", `/routing/rules/${version}/activate`);
  const { client } = await portal.service.merchant({ name: "Batik Lasem", environment: "production" });
  const body = { amount_minor: 12_500_000, customer: { email: "wati@kopi.example" } };
  const { reference } = (await client.post("/v1/payments", paymentBody({ ...body, reference_id: "kain-7" }))).json;
  const operationKey = bank.opened.at(-1)?.operationKey ?? "";
  await client.post(`/v1/payments/${reference}/cancel`, {});
  await client.post("/v1/payments", paymentBody({ ...body, reference_id: "kain-8" }));
  const receipt = { transactionId: "MRB-77120", amountMinor: 12_500_000n, currency: "IDR" };
  await report(portal.service.origin, "merbabu", {
    kind: "payment",
    operationKey,
    state: { status: "paid", receipt },
  });
  return reference as string;
}

test("a reviewer decides twenty reviews in a row by keyboard alone", async () => {
  const references = await reviews(20);
  const { page, open } = await portal.operator("support");
  await open(at.payment(references[0] ?? ""));
  await page.getByRole("link", { name: "The review" }).click();
  await page.waitForURL(`**${at.review(references[0] ?? "")}`);
  await open(at.home());
  await page
    .getByRole("link", { name: /^Review/ })
    .first()
    .waitFor();
  expect(await page.getByText("Production is closed").count()).toBe(0);
  await open(at.waitingFor("review"));
  expect(await page.getByRole("row").count()).toBe(21);
  await page.getByRole("link", { name: "Review" }).first().focus();
  await page.keyboard.press("Enter");
  for (const [number, reference] of references.entries()) {
    await page.waitForURL(`**/reviews/${reference}`);
    await page.getByText(`Automatic refusal:`).waitFor();
    await settled(page);
    if (number === 0) {
      // On and back, before anything is decided.
      await page.keyboard.press("j");
      await page.waitForURL(`**/reviews/${references[1]}`);
      await page.keyboard.press("k");
      await page.waitForURL(`**/reviews/${reference}`);
      await settled(page);
      // It is asked once more, and Escape leaves it as it is.
      await page.keyboard.press("a");
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    const approves = number % 4 !== 3;
    await page.keyboard.press(approves ? "a" : "r");
    // Keys go to the field from the moment on that it has the focus.
    await page.getByRole("dialog").getByLabel("Reason").and(page.locator(":focus")).waitFor();
    if (!approves) await page.keyboard.type("Same card as last week");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
  await page.getByRole("heading", { level: 1, name: "Waiting" }).waitFor();
  await page.getByText("Nothing waits").waitFor();
  const statuses = await Promise.all(
    references.map(
      async (reference) => (await portal.service.askOperator(`/payments/${reference}`)).json.payment.status,
    ),
  );
  expect(statuses).toEqual(references.map((_, number) => (number % 4 === 3 ? "failed" : "pending")));
  const { audit } = (await portal.service.askOperator(`/payments/${references[3]}`)).json;
  expect(audit[0].body).toEqual({ reason: "Same card as last week" });
});

test("what an acquirer questions is judged here, and its word decides", async () => {
  const { service } = portal;
  const rules = ["merbabu", "cendana"].map((gateway_code) => ({ gateway_code, priority: 1, weight: 1 }));
  const { version } = await service.operate("POST", "/routing/rules", { rules });
  await service.operate("POST", `/routing/rules/${version}/activate`);
  const { client } = await service.merchant({ name: "Batik Lasem", environment: "production" });
  const { reference } = (
    await client.post("/v1/payments", paymentBody({ payment_method: "card", amount_minor: 72_500_000 }))
  ).json;
  const operationKey = bank.opened.at(-1)?.operationKey ?? "";
  bank.states.set(operationKey, { status: "processing", isUnderReview: true });
  await report(service.origin, "merbabu", { kind: "look", operationKey });
  const { page, open, look } = await portal.operator("support");
  await expect
    .poll(async () => (await service.operate("GET", `/payments/${reference}`)).payment.status)
    .toBe("processing");
  await open(at.review(reference as string));
  await page.getByText("What the acquirer asks").waitFor();
  await page.getByText("If nobody decides here, the acquirer does.").waitFor();
  await look("acquirer-review");
  await page.keyboard.press("a");
  await page.getByText("Its acquirer is told to accept the money.").waitFor();
  await page.keyboard.press("Enter");
  await expect
    .poll(async () => (await service.operate("GET", `/payments/${reference}`)).payment.status)
    .toBe("succeeded");
  expect(bank.judged).toContainEqual([operationKey, "approve"]);
});

test("late money is assigned to its merchant, after what it may have been meant for", async () => {
  const reference = await lateMoney();
  const { page, open, look } = await portal.operator("admin");
  await open(at.payment(reference));
  await page.getByText("it matches no open payment").waitFor();
  await page.getByRole("link", { name: "decide whose it is", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Late money" }).waitFor();
  await open(at.waiting());
  await page.getByLabel("Kind").selectOption("Late money");
  await page.waitForURL(`**${at.waitingFor("receipt")}`);
  await page.getByRole("link", { name: "Late money" }).click();
  await page.getByRole("heading", { level: 1, name: "Late money" }).waitFor();
  const candidates = page.getByRole("group", { name: "Candidates" });
  expect(await candidates.getByRole("row").nth(1).textContent()).toContain("kain-7");
  expect(await candidates.getByRole("row").nth(2).textContent()).toContain("kain-8");
  await look("console-late-money");
  await page
    .getByRole("article", { name: "Return it" })
    .getByText("Return to the payer, through the acquirer,")
    .waitFor();
  const decision = page.getByRole("article", { name: "Assign it to the merchant" });
  await decision.getByText(/^Assign to the merchant /).waitFor();
  expect(await decision.getByRole("row", { name: /Merchant, available/ }).textContent()).toContain("+125,000.00");
  await decision.getByRole("button").click();
  await page.getByText("It does not mark any order as paid").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Assign it to the merchant" }).click();
  await page.getByText("Nothing waits").waitFor();
  const { data } = (await portal.service.askOperator("/receipts?status=credited")).json;
  expect(data).toMatchObject([{ transaction_id: "MRB-77120", amount_minor: 12_500_000 }]);
});

test("late money that its acquirer takes back is told with what can be done: its payment can have no dispute", async () => {
  const { service } = portal;
  const reference = await lateMoney();
  const { operationKey = "" } = bank.opened.find((one) => one.reference === reference) ?? {};
  const state = { status: "failed" } as const;
  bank.states.set(operationKey, state);
  await report(service.origin, "merbabu", { kind: "payment", operationKey, state });
  const disputed = async (): Promise<{ uuid: string; merchant_id: string } | undefined> =>
    (await service.operate("GET", "/reconciliation-exceptions")).data.find(
      ({ kind }: { kind: string }) => kind === "dispute",
    );
  await expect.poll(disputed).toBeDefined();
  const { uuid, merchant_id } = (await disputed()) ?? expect.unreachable();
  const contested = { payment_reference: reference, reason: "general" };
  await expect(
    service.operate("POST", `/merchants/${merchant_id}/books/production/disputes`, contested),
  ).rejects.toThrow("PAYMENT_NOT_REFUNDABLE");
  const { page, open } = await portal.operator("admin");
  await open(at.exception(uuid));
  await page
    .getByText(/or it took money back that it had reported as paid.* Late money that still waits: return it\./)
    .waitFor();
});

interface LeftOpen {
  uuid: string;
  reference: string;
  canceled: string;
  doubted: string;
}

/**
 * A refund that the bank accepted, a payment that it has in processing, a canceled one, and one that was paid and of which the bank said that it
 * failed. It says nothing more of any of them since a day.
 */
async function leftOpen(): Promise<LeftOpen> {
  const { service } = portal;
  const rules = ["merbabu", "cendana"].map((gateway_code) => ({ gateway_code, priority: 1, weight: 1 }));
  const { version } = await service.operate("POST", "/routing/rules", { rules });
  await service.operate("POST", `/routing/rules/${version}/activate`);
  const { client } = await service.merchant({ name: "Rotan Jepara", environment: "production" });
  const made = async (amount_minor: number, state: ReportedState): Promise<string> => {
    const { reference } = (await client.post("/v1/payments", paymentBody({ amount_minor }))).json;
    const { operationKey = "" } = bank.opened.at(-1) ?? {};
    await report(service.origin, "merbabu", { kind: "payment", operationKey, state });
    return reference as string;
  };
  const receipt = { transactionId: "MRB-40981", amountMinor: 9_000_000n, currency: "IDR" };
  const payment_reference = await made(9_000_000, { status: "paid", receipt });
  const reference = await made(4_500_000, { status: "processing" });
  bank.refundStatus = "pending";
  const { uuid } = (await client.post("/v1/refunds", { payment_reference, amount_minor: 2_000_000 })).json;
  await expect.poll(async () => (await service.operate("GET", `/refunds/${uuid}`)).operation?.step).toBe("polling");
  const canceled = await made(3_000_000, { status: "waiting" });
  const money = { transactionId: "MRB-40982", amountMinor: 6_000_000n, currency: "IDR" };
  const doubted = await made(6_000_000, { status: "paid", receipt: money });
  bank.answersQuestions = false;
  await client.post(`/v1/payments/${canceled}/cancel`, {});
  const { operationKey = "" } = bank.opened.at(-1) ?? {};
  await report(service.origin, "merbabu", { kind: "payment", operationKey, state: { status: "failed" } });
  for (const asked of [canceled, doubted])
    await expect
      .poll(async () => (await service.operate("GET", `/payments/${asked}`)).operations[0].step)
      .toBe("inquiring");
  // Those that a worker has claimed it would write anew.
  const older = `update acquirer_operations
    set created_at = created_at - interval '1 day', due_at = now() + interval '5 minutes'
    where operation_id = any($1::uuid[]) and created_at > now() - interval '1 day'
      and due_at not between now() + interval '20 seconds' and now() + interval '61 seconds'`;
  const ids = [uuid as string, reference, canceled, doubted].map(uuidOf);
  for (let left = ids.length; left > 0;) {
    left -= (await asOwner(service.database, (owner) => owner.query(older, [ids]))).rowCount ?? 0;
  }
  bank.answersQuestions = true;
  return { uuid, reference, canceled, doubted };
}

test("what an acquirer never says is recorded by hand, with what shows it", async () => {
  const { uuid, reference, canceled, doubted } = await leftOpen();
  const { page, open, look } = await portal.operator("admin");
  // What cannot be read is said, and read again.
  let isDown = true;
  await page.route(`**/refunds/${uuid}/outcome`, (route) =>
    isDown ? route.fulfill({ status: 503 }) : route.continue(),
  );
  await open(at.refund(uuid));
  const recording = page.getByRole("region", { name: "If the acquirer never says" });
  await recording.getByRole("alert").getByText("Overloaded or restarting").waitFor();
  isDown = false;
  await recording.getByRole("button", { name: "Try again" }).click();
  await recording.getByText("if it says otherwise later, that appears under Waiting.").waitFor();
  await isClean({ page }, "console-refund-outcome");
  await look("console-refund-outcome");
  const { width, height } = page.viewportSize() ?? PHONE;
  await page.setViewportSize(PHONE);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(PHONE.width);
  await page.setViewportSize({ width, height });
  const never = page.getByRole("article", { name: "Record that it was never made" });
  expect(await never.getByRole("row", { name: /Merchant, available/ }).textContent()).toContain("+20,000.00");
  await never.getByRole("button").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Record that it was never made" }).click();
  await dialog.getByText("What shows it is needed.").waitFor();
  await dialog.getByLabel("What shows it").fill("Merbabu's letter 118");
  await look("console-refund-outcome-asked");
  await dialog.getByRole("button", { name: "Record that it was never made" }).click();
  await page.getByText("The acquirer could not return the money.").waitFor();
  expect(await page.getByText("If the acquirer never says").count()).toBe(0);

  await open(at.payment(reference));
  const paid = page.getByRole("article", { name: "Record that it was paid" });
  await paid.getByRole("button").click();
  await dialog.getByLabel("The acquirer's transaction id").fill("MRB-40999");
  await dialog.getByLabel("What shows it").fill("Statement of 20 November, line 7");
  await look("console-payment-outcome");
  await dialog.getByRole("button", { name: "Record that it was paid" }).click();
  await expect
    .poll(async () => (await portal.service.operate("GET", `/payments/${reference}`)).payment.status)
    .toBe("succeeded");
  await page.getByText("If the acquirer never says").waitFor({ state: "detached" });
  const hands = page.getByRole("region", { name: "What operators did" });
  await hands.getByText(`/payments/${reference}/outcome`).waitFor();

  await open(at.payment(canceled));
  const late = page.getByRole("article", { name: "Record that it was paid" });
  expect(await late.getByRole("row", { name: "Money not assigned yet" }).textContent()).toContain("+30,000.00");
  await look("console-payment-outcome-over");
  await page.getByRole("article", { name: "Record that it was not paid" }).getByRole("button").click();
  await dialog.getByLabel("What shows it").fill("Merbabu's letter 119");
  await dialog.getByRole("button", { name: "Record that it was not paid" }).click();
  await page.getByText("If the acquirer never says").waitFor({ state: "detached" });
  const after = await portal.service.operate("GET", `/payments/${canceled}`);
  expect([after.payment.status, after.operations[0].step]).toEqual(["canceled", "done"]);

  await open(at.payment(doubted));
  await page.getByRole("article", { name: "Record that the money is gone" }).waitFor();
  await look("console-payment-outcome-paid");
  await page.getByRole("article", { name: "Record that the money is there" }).getByRole("button").click();
  await dialog.getByLabel("The acquirer's transaction id").fill("MRB-40981");
  await dialog.getByLabel("What shows it").fill("Statement of 21 November, line 2");
  await dialog.getByRole("button", { name: "Record that the money is there" }).click();
  await dialog.getByText("This transaction was reported before.").waitFor();
  await dialog.getByLabel("The acquirer's transaction id").fill("MRB-40982");
  await dialog.getByRole("button", { name: "Record that the money is there" }).click();
  await page.getByText("If the acquirer never says").waitFor({ state: "detached" });
  const kept = await portal.service.operate("GET", `/payments/${doubted}`);
  expect([kept.payment.status, kept.operations[0].step]).toEqual(["succeeded", "done"]);
});

test("two operators release one big refund", async () => {
  const { reference } = await sold(80_000_000);
  const asker = await portal.operator("admin");
  const approver = await portal.operator("admin");
  // The policy, by its page.
  await asker.open(at.approvalPolicy());
  await asker.page.getByText("such as 50,000.00, not in minor units").waitFor();
  await asker.page.getByRole("checkbox", { name: "Refund a payment" }).check();
  await asker.page.getByLabel("Refund a payment: above IDR").fill("500,000.00");
  await asker.look("console-policy");
  await asker.page.getByRole("button", { name: "Put it in force" }).click();
  await asker.page.getByText("Version 1, by").waitFor();
  // A small one is done at once.
  await asker.open(at.payment(reference));
  const refund = async (amount: string): Promise<void> => {
    await asker.page.getByRole("button", { name: "Refund…" }).click();
    await asker.page.getByLabel("Amount in IDR").fill(amount);
    await asker.page.getByLabel("Reason").fill("The parcel came back");
    await asker.page.getByRole("button", { name: "Refund", exact: true }).click();
    await asker.page.getByRole("dialog").waitFor({ state: "detached" });
  };
  await refund("100,000.00");
  await asker.page.getByText("partially refunded").first().waitFor();
  // A big one waits, and whoever asked cannot let it go.
  await refund("700,000.00");
  await asker.page.getByRole("heading", { level: 1, name: "Approval" }).waitFor();
  await asker.page.getByText("You asked for this yourself").waitFor();
  expect(await asker.page.getByRole("button", { name: "Approve" }).count()).toBe(0);
  expect(await asker.page.getByRole("button", { name: "Take it back" }).count()).toBe(1);
  // Another one finds it, sees what would happen, and approves it.
  await approver.open(at.waiting());
  await approver.page.getByRole("link", { name: "Second operator" }).click();
  await approver.page
    .getByText(/Refund IDR 700,000.00 of pay_/)
    .first()
    .waitFor();
  // Whether it is real money.
  await approver.page.getByText(/\(sandbox\)/).waitFor();
  const book = approver.page.getByRole("group", { name: "What happens to the book" });
  expect(await book.getByRole("row", { name: /Merchant, available/ }).textContent()).toContain("700,000.00");
  await approver.look("console-approval");
  await approver.page.getByRole("button", { name: "Approve" }).click();
  await approver.page.getByLabel("Note").fill("I saw the parcel");
  await approver.page.getByRole("button", { name: "Approve and run it" }).click();
  await approver.page.getByText("executed").first().waitFor();
  await approver.page.getByText(asker.email).first().waitFor();
  const { payment, audit } = (await portal.service.askOperator(`/payments/${reference}`)).json;
  expect(payment.refunded_minor).toBe(80_000_000);
  expect(audit[0]).toMatchObject({ actor: asker.email, approved_by: approver.email, status: 201 });
  // The policy is loosened by two as well.
  await asker.open(at.approvalPolicy());
  await asker.page.getByRole("checkbox", { name: "Refund a payment" }).uncheck();
  await asker.page.getByRole("button", { name: "Put it in force" }).click();
  await asker.page.getByText(/Loosen the approval policy/).waitFor();
  const [, uuid = ""] = /approvals\/(apr_\w+)/.exec(asker.page.url()) ?? [];
  await approver.open(at.approval(uuid));
  await approver.page.keyboard.press("a");
  await approver.page.getByRole("button", { name: "Approve and run it" }).click();
  await approver.page.getByText("executed").first().waitFor();
  expect((await portal.service.askOperator("/approvals/policy")).json).toMatchObject({ version: 2, actions: {} });
  // Had its outcome remained unknown, both pages would say what to do.
  await asOwner(portal.service.database, async (owner) => {
    await owner.query("set session_replication_role = replica"); // no triggers
    const unknown = "status = 'unknown', answer = null, answer_status = null";
    await owner.query(`update operator_approvals set ${unknown} where approval_id = $1`, [uuidOf(uuid)]);
  });
  await approver.open(at.waitingFor("approval_unknown"));
  await approver.page.getByText("Look at the object: was the change made?").waitFor();
  await approver.page.getByRole("link", { name: "Approved, outcome unknown" }).click();
  await approver.page.getByText("nobody can tell whether it was made").waitFor();
  await approver.look("console-approval-unknown");
});

test("the policy's limits in other currencies are amounts of them, and stay when the one in rupiah changes", async () => {
  const { version } = (await portal.service.askOperator("/approvals/policy")).json;
  const bounds = { JPY: 50_000, KWD: 12_500, USD: 200_000 };
  await portal.service.operate("PUT", "/approvals/policy", {
    version,
    actions: { record_payout: { above_minor: { IDR: 100_000_000, ...bounds } } },
  });
  const { page, open } = await portal.operator("admin");
  await open(at.approvalPolicy());
  await page.getByText("Also above JPY 50,000, KWD 12.500, USD 2,000.00.").waitFor();
  await page.getByLabel("Record what the bank did with a payout: above IDR").fill("500,000.00");
  await page.getByRole("button", { name: "Put it in force" }).click();
  await page.getByText(`Version ${version + 2}, by`).waitFor();
  const { actions } = (await portal.service.askOperator("/approvals/policy")).json;
  expect(actions).toEqual({ record_payout: { above_minor: { IDR: 50_000_000, ...bounds } } });
});

test("a dispute is read with its evidence and decided", async () => {
  const { client, merchantId } = await portal.service.merchant({ name: "Kopi Melati" });
  // By the sandbox's clock the deadline is near; by the operator's it would seem to be far.
  await client.post("/v1/sandbox/clock/advance", { seconds: 20 * 86_400 });
  const { reference } = (await client.post("/v1/payments", paymentBody({ amount_minor: 9_000_000 }))).json;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  const { uuid } = (await client.post(`/v1/sandbox/payments/${reference}/dispute`, { reason: "general" })).json;
  const files = [{ name: "receipt.txt", media_type: "text/plain", content_base64: btoa("signed for") }];
  await portal.service.app.submitEvidence({ merchantId, environment: "sandbox" }, uuid as string, {
    statement: "It was signed for at the door.",
    files,
  });
  const { page, open, look } = await portal.operator("admin");
  await open(at.waiting());
  await page.getByRole("link", { name: "Dispute to decide" }).click();
  await page.getByText("It was signed for at the door.").waitFor();
  const due = page.getByText("Evidence due").locator("..");
  expect(await due.innerText()).toMatch(/\d{4}, \d\d:\d\d$/);
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: /receipt\.txt/ }).click();
  expect((await saved).suggestedFilename()).toMatch(/^receipt\.txt/);
  await look("console-dispute");
  const won = page.getByRole("article", { name: "Decide for the merchant" });
  await won.getByRole("button").click();
  await page.getByRole("dialog").getByRole("button", { name: "Decide for the merchant" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect((await client.get(`/v1/disputes/${uuid}`)).json.outcome).toBe("won");
});

test("more time for a dispute is given by the clocks of the profile, which the page's times show, not by the browser's", async () => {
  const { reference, merchantId } = await sold(9_000_000);
  const client = await portal.service.client(merchantId);
  const { uuid } = (await client.post(`/v1/sandbox/payments/${reference}/dispute`, { reason: "general" })).json;
  const { page, open } = await portal.operator("admin");
  await open("/account");
  await page.getByLabel("Time zone").selectOption("America/Lima");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Your profile is changed.").waitFor();
  // It has longer than what waits: its merchant's page leads to it.
  await open(at.merchant(merchantId));
  await page.getByRole("link", { name: "sandbox: Disputes" }).click();
  await page
    .getByRole("row", { name: /needs response/ })
    .getByRole("link")
    .first()
    .click();
  await page.getByRole("heading", { level: 1, name: "Dispute", exact: true }).waitFor();
  const due = page.getByText("Evidence due").locator("..");
  const shown = await due.innerText();
  await page.getByRole("button", { name: "Give it more time…" }).click();
  const field = page.getByLabel("Evidence due");
  expect(shown).toContain((await field.inputValue()).slice(11));
  await page.getByText("By the clocks of America/Lima.").waitFor();
  const nextYear = new Date().getFullYear() + 1;
  await field.fill(`${nextYear}-01-31T12:00`);
  await page.getByRole("button", { name: "Set it" }).click();
  await due.getByText(`31 Jan ${nextYear}, 12:00`).waitFor();
  expect((await client.get(`/v1/disputes/${uuid}`)).json.evidence_due_at).toBe(`${nextYear}-01-31T17:00:00Z`);
});

test("axe finds nothing on the pages of decisions, light and dark, wide and on a phone; support is offered no money", async () => {
  const [review = ""] = await reviews(1);
  const { reference, merchantId } = await sold(5_000_000);
  const settlements = (await (await portal.service.client(merchantId)).post("/v1/sandbox/settlements/run", {})).json
    .data;
  const pages = {
    waiting: at.waiting(),
    review: at.review(review),
    payment: at.payment(reference),
    settlement: at.payout(merchantId, "sandbox", settlements[0].uuid as string),
    approvals: at.approvals(),
    policy: at.approvalPolicy(),
  };
  for (const viewport of [undefined, PHONE]) {
    const { page, open, look } = await portal.operator("support", viewport ? { viewport } : {});
    for (const [name, path] of Object.entries(pages)) {
      await open(path);
      // The colours are those of any width.
      for (const theme of viewport ? (["light"] as const) : (["light", "dark"] as const)) {
        await showIn(page, theme);
        expect(await faultsIn(page, theme), `${name}, ${theme}`).toEqual([]);
      }
      if (!viewport) await look(`console-${name}`);
      if (name === "payment") expect(await page.getByRole("button", { name: "Refund…" }).count()).toBe(0);
      if (name === "settlement") expect(await page.getByRole("button", { name: /^Record/ }).count()).toBe(0);
    }
  }
});
