// Goal: an operator's day is done in the browser, as docs/guides/operator.md tells it. Method: two operators go through its headings, one after the
// other; each word in bold has to stand on a page that its part of the day leads over. What other tests tell at length is only touched.
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, test, vi } from "vitest";
import { asOwner, paymentBody } from "../../gateway/test/kit.ts";
import { scriptedAcquirer } from "../../gateway/test/scripted-acquirer.ts";
import { uuidOf } from "../../gateway/src/ground/ids.ts";
import { at } from "../../portal/src/console/paths.ts";
import { faults } from "./kit/look.ts";
import { type OperatorVisit, settled, usePortal } from "./kit/portal.ts";

const guide = readFileSync(new URL("../../docs/guides/operator.md", import.meta.url), "utf8");
/** By heading: what the guide has in bold, which is what the pages call things. */
const told = new Map(
  guide.split(/^#+ /m).flatMap((part): [string, string[]][] => {
    const [heading = ""] = part.split("\n", 1);
    const prose = part.replaceAll(/```[\s\S]*?```/g, "");
    const words = [...prose.matchAll(/\*\*([^*]+)\*\*/g)].map(([, word = ""]) => word.replaceAll(/\s+/g, " "));
    return words.length === 0 ? [] : [[heading, words]];
  }),
);

const rimba = scriptedAcquirer("rimba");
const portal = usePortal({ acquirers: [rimba], config: { webhookAllowHosts: new Set(["localhost"]) } });

/** Everything that somebody can read or be told on the page as it is now. */
async function textOf(page: Page): Promise<string> {
  return page.evaluate(() => {
    const names = [...document.querySelectorAll("[aria-label]")].map((one) => one.getAttribute("aria-label"));
    return [document.body.innerText, ...names].join("\n");
  });
}

class Day {
  private readonly seen = new Map<string, string>();
  private heading = "";
  private readonly visit: OperatorVisit;

  constructor(visit: OperatorVisit) {
    this.visit = visit;
  }

  /** A part of the guide begins. */
  begin(heading: string): void {
    this.heading = heading;
  }

  /** Looks at what is shown; for another part of the guide, where that names the same buttons. */
  async look(page = this.visit.page, heading = this.heading): Promise<void> {
    await settled(page);
    await page.waitForFunction(() => document.querySelector(".skeleton") === null);
    // What a click opens is drawn a frame later.
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    this.seen.set(heading, `${this.seen.get(heading) ?? ""}\n${await textOf(page)}`);
  }

  async open(path: string): Promise<void> {
    await this.visit.open(path);
    await this.look();
  }

  async click(name: string | RegExp, { role = "button" }: { role?: "button" | "link" | "tab" } = {}): Promise<void> {
    const exact = typeof name === "string";
    await this.visit.page.getByRole(role, { name, exact }).first().click();
    await this.look();
  }

  /** What the guide names and no page did. */
  missing(): string[] {
    return [...told].flatMap(([heading, words]) =>
      words.filter((word) => !this.seen.get(heading)?.includes(word)).map((word) => `${heading}: ${word}`),
    );
  }
}

test("an operator's day goes as its guide says, without the command line", async () => {
  const { service } = portal;
  const { rules } = await service.operate("GET", "/routing/rules/1");
  const withRimba = [{ gateway_code: "rimba", payment_method: "bank_transfer", priority: 1, weight: 1 }, ...rules];
  const { version } = await service.operate("POST", "/routing/rules", { rules: withRimba });
  await service.operate("POST", `/routing/rules/${version}/activate`);
  const { client, merchantId } = await service.merchant({ name: "Kopi Melati" });
  const post = async (path: string, body: unknown = {}) => (await client.post(path, body)).json;
  // Its receiver is away.
  await service.operate("PUT", `/merchants/${merchantId}/webhook`, {
    environment: "sandbox",
    url: "https://localhost:1/hook",
  });
  const pay = async (changes: Record<string, unknown>, outcome = "succeeded"): Promise<string> => {
    const { reference } = await post("/v1/payments", paymentBody(changes));
    await post(`/v1/sandbox/payments/${reference}/simulate`, { outcome });
    return reference as string;
  };
  const paid = await pay({ amount_minor: 80_000_000, reference_id: "order-1234" });
  await pay({ amount_minor: 20_000_000 }, "failed");
  await pay({ amount_minor: 20_000_000 });
  const batch = (await post("/v1/sandbox/settlements/run")).data[0].uuid as string;
  const [contested] = [
    await pay({ amount_minor: 9_000_000, reference_id: "order-1300" }),
    await pay({ amount_minor: 90_000_000 }),
  ];
  await post("/v1/payments", paymentBody({ customer: { email: "a@review.test" } }));
  const metadata = { "sandbox.scenario": "auto_success" };
  const { reference: late } = await post("/v1/payments", paymentBody({ amount_minor: 12_500_000, metadata }));
  await post(`/v1/payments/${late}/cancel`);
  const { reference: doubted } = await post("/v1/payments", paymentBody({ payment_method: "bank_transfer" }));
  // As its room leaves one behind: somebody made a refund in the acquirer's dashboard.
  await asOwner(service.database, async (owner) => {
    await owner.query("set session_replication_role = replica");
    await owner.query(
      `insert into reconciliation_exceptions (merchant_id, environment, exception_id, operation_id, attempt, kind, gateway_code, noticed_at, occasions)
values ($1, 'sandbox', gen_random_uuid(), $2, 1, 'refund_elsewhere', 'rimba', now(), '["re_1"]')`,
      [uuidOf(merchantId), uuidOf(doubted as string)],
    );
  });

  await fetch(`${portal.consoleOrigin}/ops/v1/merchants`, { headers: { authorization: "Bearer guessed" } });

  // The money of a canceled payment arrives some seconds later, and Home looks again only after more of them.
  await vi.waitFor(async () => expect((await service.operate("GET", "/receipts")).data).toHaveLength(1), {
    timeout: 30_000,
  });

  // Who approves was there before the question.
  const other = await portal.operator("admin");

  // The first sign-in, by the link that the machine printed.
  const visit = await portal.consoleGuest();
  const { page } = visit;
  const { token } = await service.app.consolePeople.operators.invite({ role: "admin" }, "command-line");
  const day = new Day({ ...visit, email: "sari@gateway.example" } as OperatorVisit);
  day.begin("The first sign-in");
  await page.goto(`${portal.consoleOrigin}/console/invitation#${token}`);
  await page.getByLabel("E-mail address").fill("sari@gateway.example");
  await page.getByLabel("Your name").fill("Sari Dewi");
  await page.getByLabel("Password").fill("teh poci pagi hari 12");
  await day.look();
  await day.click("Join");
  await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  await day.click("Your account: Sari Dewi");
  await day.open("/account/passkeys");
  await day.open("/account/authenticator");

  day.begin("An operator's day");
  await day.open(at.home());
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").waitFor();
  await page.keyboard.press("Escape");

  day.begin("In the morning");
  await page.getByRole("listitem").filter({ hasText: "Late money" }).waitFor({ timeout: 30_000 });
  await day.open(at.wall());
  await page.getByText("Why others did not").waitFor();
  await day.look();
  await page.keyboard.press("2");
  await page.waitForURL(/period=day/);
  await day.open(at.home());
  await day.click(/^Review/, { role: "link" });
  await page.waitForURL(/\/waiting\?kind=review/);

  day.begin("What waits");
  await day.open(at.waiting());
  day.begin("A review");
  await day.click("Review", { role: "link" }).catch(() => day.click(/^Review/, { role: "link" }));
  await page.getByText("What fraud detection saw").waitFor();
  await day.look();
  await page.keyboard.press("a");
  await page.getByRole("dialog").getByLabel("Reason").and(page.locator(":focus")).waitFor();
  await page.keyboard.type("Known customer");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Waiting" }).waitFor();

  day.begin("A dispute");
  await day.open(at.payment(contested));
  const elsewhere = "Money given back elsewhere";
  await day.look(page, elsewhere);
  await day.click("Record a dispute…");
  expect(await faults(page), "Record a dispute…").toEqual([]);
  await day.click("Record it");
  await page.getByRole("heading", { level: 1, name: "Dispute" }).waitFor();
  await day.look(page, elsewhere);
  await day.click("Give it more time…");
  expect(await faults(page), "Give it more time…").toEqual([]);
  await page.getByLabel("Evidence due").fill(`${new Date().getFullYear() + 1}-01-31T12:00`);
  await day.click("Set it");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await day.click("Answer for the merchant…");
  expect(await faults(page), "Answer for the merchant…").toEqual([]);
  await page.getByLabel("Statement").fill("It was handed over at the door.");
  const large = { name: "film.mp4", mimeType: "video/mp4", buffer: Buffer.alloc(150_001) };
  await page.getByLabel("Files").setInputFiles(large);
  await page.getByText("The files are too large for this form.").waitFor();
  await day.click("Submit it");
  await page
    .getByLabel("Files")
    .setInputFiles({ name: "slip.txt", mimeType: "text/plain", buffer: Buffer.from("signed") });
  await day.click("Submit it");
  await page.getByText("It was handed over at the door.").waitFor();
  await page.getByRole("button", { name: /^slip\.txt/ }).waitFor();
  await page.getByRole("article", { name: "Decide for the merchant" }).getByRole("button").click();
  await page.getByRole("dialog").getByRole("button", { name: "Decide for the merchant" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });

  day.begin("Late money, and records that disagree");
  await day.open(at.waitingFor("receipt"));
  await day.click(/^Late money/, { role: "link" });
  await page.getByRole("button", { name: "Return it" }).waitFor();
  await day.look();
  await day.look(page, elsewhere);
  await day.click("Assign it to the merchant");
  await page.getByRole("dialog").getByRole("button", { name: "Assign it to the merchant" }).click();
  await page.getByText("Nothing waits").waitFor();
  await day.open(at.waitingFor("exception"));
  await day.click(/^Disagreement/, { role: "link" });
  await page.getByLabel("What was done about it").fill("Told the merchant, and recorded a dispute of the amount.");
  await asOwner(service.database, (owner) =>
    owner.query(`update reconciliation_exceptions set occasions = '["re_1", "re_2"]'`),
  );
  await day.click("Close it");
  await page.getByText("It is also about re_2. Look at it again first.").waitFor();
  await page.getByText("re_1, re_2").waitFor();
  await day.look();
  await day.click("Close it");
  await page.getByText("The disagreement is closed.").waitFor();

  day.begin("A merchant calls");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("order-1234");
  await page.getByRole("option").filter({ hasText: "Kopi Melati" }).first().waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(paid));
  await day.look();
  await day.click("payment.succeeded", { role: "link" });
  await page.getByText("What the receiver is told").waitFor();
  await day.click("Send it again");
  await page.getByText("One more attempt is under way.").waitFor();
  await page.getByText("Attempt 2").waitFor();
  await day.open(at.merchant(merchantId));

  day.begin("A refund, and two operators");
  await day.open(at.approvalPolicy());
  await page.getByRole("checkbox", { name: "Refund a payment" }).check();
  await page.getByLabel("Refund a payment: above IDR").fill("500,000.00");
  await day.click("Put it in force");
  await page.getByText("Version 1, by").waitFor();
  await day.open(at.payment(paid));
  await day.click("Refund…");
  await page.getByLabel("Reason").fill("Paid twice, ticket 4711");
  await page.getByRole("dialog").getByRole("button", { name: "Refund", exact: true }).click();
  await page.getByText("You asked for this yourself").waitFor();
  await day.look();
  await other.open(at.waitingFor("approval"));
  await other.page.getByRole("link", { name: /^Second operator/ }).click();
  await other.page.getByRole("button", { name: "Approve" }).waitFor();
  await day.look(other.page);
  day.begin("What waits");
  await day.look(other.page);
  await other.page.getByRole("button", { name: "Approve" }).click();
  await other.page.getByRole("button", { name: "Approve and run it" }).click();
  await other.page.getByText("executed").first().waitFor();

  day.begin("An acquirer fails");
  await day.open(at.acquirers());
  await day.open(at.routing());
  await day.click("Add a rule");
  const rule = `Rule ${withRimba.length + 1}`;
  await page.getByLabel(`${rule}: acquirer`, { exact: true }).selectOption("cendana");
  await page.getByLabel(`${rule}: method`).selectOption("qris");
  await page.getByLabel(`${rule}: priority`).fill("5");
  await day.click("What if?");
  await page.getByText("Payments that would move").waitFor();
  await day.click("Let it decide…");
  await page.getByLabel("Reason, for whoever reads it later").fill("Nusantara fails");
  await day.click("Store and activate");
  await page.getByText("Version 3 decides.", { exact: false }).first().waitFor();
  await day.look();
  await day.click("Split tests", { role: "tab" });
  await day.click("Versions", { role: "tab" });
  await day.click("Roll back… to version 2");
  await day.click("Roll back");
  await page.getByText("those of 2").waitFor();
  await day.look();

  day.begin("A new merchant");
  await day.open(at.merchants());
  await day.click("Make a merchant");
  await page.getByLabel("Name", { exact: true }).last().fill("Toko Senja");
  await day.click("Make it");
  await day.click("I have handed them over", { role: "link" });
  await page.getByRole("heading", { level: 1, name: "Toko Senja" }).waitFor();
  await day.look();
  await day.click("Access", { role: "tab" });
  await page.getByText("No address yet: only events of payments with a callback_url are sent.").first().waitFor();
  await day.look();
  await day.click("Make a credential…");
  await day.click("Make it");
  await day.click("I have handed it over");
  await day.click(/^Revoke ak_test_/);
  await day.click("Revoke it");
  await page.getByText("The credential is revoked.").waitFor();

  day.begin("Settlements");
  await day.open(at.calendar("sandbox"));
  await day.open(at.merchant(merchantId));
  await day.open(at.settlement(merchantId, "sandbox", batch));
  await day.click("Record that the bank paid it");
  await page.getByLabel("The bank's reference").fill("BIFAST-20261123");
  await day.click("Record it");
  await page.getByText("BIFAST-20261123").waitFor();

  day.begin("The ledger");
  await day.open(at.merchant(merchantId));
  await day.open(at.ledger(merchantId, "sandbox"));
  await day.click("Verify the book");
  await page.getByText("clean", { exact: true }).waitFor();
  await day.click("merchant:available", { role: "link" });
  await page.getByRole("link", { name: "Statement of a period" }).waitFor();
  await day.look();
  await day.click("Statement of a period", { role: "link" });
  await page.getByText("When it ends").waitFor();
  await day.look();
  await day.open(at.trialBalance("sandbox"));
  await page.getByRole("region", { name: "Accounts in IDR" }).waitFor();
  await day.look();

  day.begin("Telling everybody that something happens");
  await day.open(at.status());
  await day.click("Report an incident");
  await page.getByLabel("Title").fill("Cards fail");
  await page.getByLabel("Message").fill("Cards of one bank are declined.");
  await day.click("Tell everybody");
  await page.getByRole("article", { name: "Cards fail" }).waitFor();
  await day.look();
  expect(await (await fetch(`${portal.origin}/status.json`)).text()).toContain("Cards fail");
  await day.click("Resolve");
  await page.getByLabel("Message").fill("All cards are taken.");
  await day.click("Resolve it");
  await page.getByText("Nothing is open").waitFor();
  await day.look();

  day.begin("Who did what");
  await day.open(at.audit());
  await day.click("sari@gateway.example", { role: "link" });
  await page.getByText("What sari@gateway.example changed or tried to.").waitFor();
  await day.look();
  await day.click("Rejected calls", { role: "link" });
  await page.getByText("a token that never was").waitFor();
  await day.look();
  await day.open(at.merchant(merchantId));
  await day.click("Who changed what", { role: "link" });
  await page.getByText("What operators changed of this merchant or tried to.").waitFor();
  await day.look();

  day.begin("Operators and tokens");
  await day.open(at.operators());
  await day.open(at.tokens());

  day.begin("A new release");
  await day.open(at.system());
  await day.open(at.wall());
  await page.getByText("Why others did not").waitFor();
  await day.look();

  // The receiver stayed away until its events were given up: its line leads to them.
  day.begin("What waits");
  await asOwner(service.database, async (owner) => {
    await owner.query("set session_replication_role = replica");
    await owner.query("update deliveries set state = 'undelivered', lease_token = null where merchant_id = $1", [
      uuidOf(merchantId),
    ]);
  });
  await day.open(at.waitingFor("endpoint_failing"));
  await day.click(/^Receiver failing/, { role: "link" });
  await page.waitForURL(/\/events\?delivery=undelivered/);
  await page.getByRole("link", { name: "payment.created" }).first().waitFor();
  await day.look();
  await day.click("Send again since…");
  // The list is asked for again. What it then shows depends on how many of the new attempts have failed already.
  await Promise.all([page.waitForResponse(/\/books\/sandbox\/events\?/), day.click("Send them again")]);
  await page.getByText(/^\d+ events? (is|are) sent again\.$/).waitFor();

  expect(told.size).toBeGreaterThanOrEqual(15);
  expect(day.missing()).toEqual([]);
});
