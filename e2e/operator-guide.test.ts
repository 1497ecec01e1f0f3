// Goal: what the operators' guides tell people to type works. Method: type it, word for word, in a shell, beside a service in
// which a merchant has answered a dispute, and has a batch to be paid out.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Client, operate, settledLate } from "./kit/client.ts";
import { Service, compiled } from "./kit/service.ts";

const shell = ["bash", "curl"].every((program) => spawnSync(program, ["--version"]).status === 0);
const program = fileURLToPath(new URL("../gateway/bin/gerbang.js", import.meta.url));
/** The guides that share a shell, in the order in which they are read, and their sections with the commands of each. */
const guides = ["operator", "operator-api", "on-call"] as const;
const sections = guides.flatMap((name) => {
  const text = readFileSync(new URL(`../docs/guides/${name}.md`, import.meta.url), "utf8");
  return text.split(/^#+ /m).flatMap((section) => {
    const [heading = ""] = section.split("\n", 1);
    const commands = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block);
    return commands.length === 0 ? [] : [{ heading: `${name}: ${heading}`, commands: commands.join("\n") }];
  });
});

describe.runIf(shell)("the operators' guides", () => {
  let place: string;
  let service: Service;
  beforeAll(async () => {
    place = mkdtempSync(join(tmpdir(), "gerbang-operator-guide-"));
    chmodSync(place, 0o711);
    service = await Service.start({ dataDirectory: join(place, ".data") });
    const { demo } = service;
    await operate(demo, "PATCH", `/merchants/${demo.merchant_id}`, settledLate);
    const client = new Client(demo);
    const sale = { amount_minor: 150_000, currency: "IDR", payment_method: "qris", reference_id: "order-1234" };
    const big = { ...sale, amount_minor: 15_000_000, reference_id: "settled" };
    const { reference: settled } = (await client.post("/v1/payments", big)).json;
    await client.post(`/v1/sandbox/payments/${settled}/simulate`, { outcome: "succeeded" });
    await client.post("/v1/sandbox/settlements/run", {});
    const { reference: sold } = (await client.post("/v1/payments", sale)).json;
    await client.post(`/v1/sandbox/payments/${sold}/simulate`, { outcome: "succeeded" });
    await client.post("/v1/payments", { ...sale, reference_id: "judge", customer: { email: "a@review.test" } });
    const body = { amount_minor: 150_000, currency: "IDR", payment_method: "qris", reference_id: "contested" };
    const { reference } = (await client.post("/v1/payments", body)).json;
    await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
    const { uuid } = (await client.post(`/v1/sandbox/payments/${reference}/dispute`, { reason: "general" })).json;
    const files = [{ name: "a.txt", media_type: "text/plain", content_base64: btoa("delivered") }];
    const path = `/merchants/${demo.merchant_id}/books/sandbox/disputes/${uuid}/evidence`;
    await operate(demo, "POST", path, { statement: "It came.", files });
  });
  afterAll(async () => {
    await service.stop();
    rmSync(place, { recursive: true, force: true });
  });

  test("every command of it runs", () => {
    // The same words in a folder that is no checkout.
    const npx = `npx() { shift; '${process.execPath}' '${program}' "$@"; }`;
    const script = ["set -e", npx, ...sections.map((one) => `echo; echo "--- ${one.heading}"\n${one.commands}`)].join(
      "\n",
    );
    const env = { PATH: process.env.PATH ?? "", ...compiled() };
    const ran = spawnSync("bash", ["-c", script], { cwd: place, env, encoding: "utf8" });
    expect(ran.status, `${ran.stdout.slice(-1_000)}\n${ran.stderr}`).toBe(0);
    const output = ran.stdout;
    const told = new Map(
      output.split("\n--- ").map((part) => [part.slice(0, part.indexOf("\n")), part.slice(part.indexOf("\n"))]),
    );
    const day = (heading: string) => expect(told.get(`operator: ${heading}`), heading);
    day("The first sign-in").toContain("/console/sign-in#link=");
    day("The first sign-in").toContain("/console/invitation#");
    day("In the morning").toContain('"kind":"review","about":');
    day("In the morning").toContain('"period":"day","environment":"sandbox"');
    day("A review").toContain('"sign":"sandbox_asked_for_review"');
    day("A review").toContain('"qr_string"');
    day("A dispute").toContain('"statement":"It came."');
    day("A dispute").toContain('"outcome":"won"');
    expect(readFileSync(join(place, "file-1"), "utf8")).toBe("delivered");
    day("Late money, and records that disagree").toContain('"has_more":false');
    day("A merchant calls").toContain('"title":"order-1234"');
    day("A merchant calls").toContain('"kind":"journalled"');
    day("A refund, and two operators").toContain('"reason":"Paid twice, ticket 4711"');
    day("A refund, and two operators").toContain('"actions":{"refund_payment":{"above_minor":{"IDR":50000}}');
    day("A refund, and two operators").toContain('"objection":null');
    day("A refund, and two operators").toContain('"status":"executed","summary":"Refund IDR 600.00');
    day("A refund, and two operators").toContain('"decided_by":"budi"');
    day("An acquirer fails").toContain('"gateway_code":"nusantara"');
    day("An acquirer fails").toContain('"left_alone":');
    day("An acquirer fails").toContain('"moves":');
    day("An acquirer fails").toContain('"active":true');
    day("An acquirer fails").toContain('"restores":1');
    day("A new merchant").toContain('"cutoff":"16:00"');
    day("A new merchant").toContain('"secret":"');
    day("A new merchant").toContain('"revoked":true');
    day("A new merchant").toContain('"invitation_id"');
    day("Settlements").toContain('"to_come":');
    day("Settlements").toContain("BIFAST-20261123");
    day("The ledger").toContain('"account":"acquirer:nusantara:receivable"');
    day("The ledger").toContain('"journals_in_all":');
    day("The ledger").toMatch(/; end of .*: \d+ journals$/m);
    day("The ledger").toContain('"opening_minor":0');
    day("Telling everybody that something happens").toContain('"message":"Cards are taken as usual."');
    day("Who did what").toContain('"actor":"environment"');
    day("Operators and tokens").toContain('"name":"nightly-report"');
    day("A new release").toContain('"name":"MASTER_KEY","value":null,"secret":true');
    const night = (heading: string) => expect(told.get(`on-call: ${heading}`), heading);
    night("A merchant's key has leaked").toContain('"action":"create_payment"');
    night("Webhooks were refused for a day").toContain('{"resent":0,"has_more":false,"next_cursor":null}');
    night("The fee of a merchant was wrong").toContain('"opening_minor":0');
    night("The fee of a merchant was wrong").toContain('"fee_minor":');
    night("An auditor asks for proof").toContain('"clean":true');
    night("An auditor asks for proof").toMatch(/^1$/m);
    const api = (heading: string) => expect(told.get(`operator-api: ${heading}`), heading);
    api("Tokens and roles").toContain('"name":"sari","role":"support"');
    api("Finding a payment").toContain('"kind":"journalled"');
    api("Finding a payment").toContain('"acquirer_name":');
    api("Finding a payment").toContain('"is_more":false');
    api("Why this number?").toContain('"figure_after_minor"');
    api("Why this number?").toContain("closing,,,,");
    api("A whole book").toContain('"clean":true');
    api("Changing the routing rules").toContain('"payments":');
    api("Testing an acquirer against another").toContain('"id":"cendana_qris"');
    api("Rolling back").toContain('"restores":1');
    api("Enabling another currency").toContain('"USD"');
    api("Two operators for one change").toContain('"activate_routing":{}');
    api("The wall and the system").toContain("event: begin");
    for (const [heading, answer] of told) expect(answer, heading).not.toContain('"error"');
  });
});
