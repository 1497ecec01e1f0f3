// Goal: what the operator's guide tells people to type works. Method: type it, word for word, in a shell, beside a service in
// which a merchant has answered a dispute.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Client, operate } from "./kit/client.ts";
import { Service } from "./kit/service.ts";

const shell = ["bash", "curl"].every((program) => spawnSync(program, ["--version"]).status === 0);
const program = fileURLToPath(new URL("../gateway/bin/gerbang.js", import.meta.url));
const guide = readFileSync(new URL("../docs/guides/operator.md", import.meta.url), "utf8");
const blocks = [...guide.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block ?? "");

describe.runIf(shell)("the operator's guide", () => {
  let place: string;
  let service: Service;
  beforeAll(async () => {
    place = mkdtempSync(join(tmpdir(), "gerbang-operator-guide-"));
    chmodSync(place, 0o711);
    service = await Service.start({ dataDirectory: join(place, ".data") });
    const { demo } = service;
    const client = new Client(demo);
    const sale = { amount_minor: 150_000, currency: "IDR", payment_method: "qris", reference_id: "order-1234" };
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

  test("every command of it runs", { timeout: 90_000 }, () => {
    // The same words in a folder that is no checkout.
    const npx = `npx() { shift; '${process.execPath}' '${program}' "$@"; }`;
    const script = ["set -e", npx, ...blocks.map((block) => `${block}\necho; echo "--- next"`)].join("\n");
    const env = { PATH: process.env.PATH ?? "" };
    const output = execFileSync("bash", ["-c", script], { cwd: place, env, encoding: "utf8" });
    const answers = output.split("--- next");
    expect(answers[1]).toContain("/console/sign-in#link=");
    expect(answers[2]).toContain("/console/invitation#");
    expect(answers[3]).toContain('"invitation_id"');
    expect(answers[4]).toContain('"name":"sari","role":"support"');
    expect(answers[4]).toContain('"gateway_code":"nusantara"');
    expect(answers[5]).toContain('"actor":"environment"');
    expect(answers[6]).toContain('"kind":"review","about":');
    expect(answers[7]).toContain('"sign":"sandbox_asked_for_review"');
    expect(answers[7]).toContain('"qr_string"');
    expect(answers[8]).toContain('"title":"order-1234"');
    expect(answers[8]).toContain('"kind":"journalled"');
    expect(answers[9]).toContain('"reason":"Paid twice, ticket 4711"');
    expect(answers[10]).toContain('"opening_minor":0');
    expect(answers[10]).toContain("closing,,,,");
    expect(answers[11]).toContain('"account":"acquirer:nusantara:receivable"');
    expect(answers[12]).toContain('"figure_after_minor"');
    expect(answers[13]).toMatch(/^; end of .*: \d+ journals$/m);
    expect(answers[14]).toContain('"status":"');
    expect(answers[14]).toContain('"journals_in_all":');
    expect(answers[15]).toContain('"has_more":false');
    expect(answers[16]).toContain('"statement":"It came."');
    expect(answers[16]).toContain('"outcome":"won"');
    expect(readFileSync(join(place, "file-1"), "utf8")).toBe("delivered");
    expect(answers[17]).toContain('"payments":');
    expect(answers[17]).toContain('"active":true');
    expect(answers[18]).toContain('"moves":');
    expect(answers[19]).toContain('"id":"cendana_qris"');
    expect(answers[20]).toContain('"restores":1');
    expect(output).toContain('"actions":{"refund_payment":{"above_minor":{"IDR":50000}}');
    expect(output).toContain('"objection":null');
    expect(output).toContain('"status":"executed","summary":"Refund 600.00 IDR');
    expect(output).toContain('"decided_by":"budi"');
    expect(output).toContain('"period":"day","environment":"sandbox"');
    expect(output).toContain("event: begin");
    expect(output).toContain('"name":"MASTER_KEY","value":null,"secret":true');
    expect(output).not.toContain('"error"');
  });
});
