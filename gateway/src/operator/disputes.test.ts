// Goal: whoever decides a dispute sees what the merchant said, to the byte, and a file from a stranger is saved and never
// shown. Method: evidence submitted and read back over real HTTP, with files that would like to be opened.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Answer } from "../../../e2e/kit/client.ts";
import { OPERATOR_TOKEN, type TestService, paymentBody, startService } from "../../test/kit.ts";
import { operatorDisputeEndpoints } from "./disputes.routes.ts";

const endpoint = operatorDisputeEndpoints({} as never).find(
  ({ method, path }) => method === "GET" && path.endsWith("/evidence"),
);

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** A contested payment: the path of its dispute. */
async function disputed(): Promise<{ path: string; uuid: string; merchantId: string }> {
  const { client, merchantId } = await service.merchant();
  const { reference } = (await client.post("/v1/payments", paymentBody())).json;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  const { json } = await client.post(`/v1/sandbox/payments/${reference}/dispute`, { reason: "general" });
  const uuid = json.uuid as string;
  return { path: `/merchants/${merchantId}/books/sandbox/disputes/${uuid}`, uuid, merchantId };
}

const outcome = ({ status, json }: Answer): string => `${status} ${json.error?.code}`;

async function download(path: string): Promise<{ response: Response; bytes: Buffer }> {
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  const response = await fetch(`${service.operatorOrigin}/ops/v1${path}`, { headers });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
const files = [
  { name: "../resi 🧾.pdf", media_type: "application/pdf", content_base64: every.toString("base64") },
  { name: "page.html", media_type: "text/html", content_base64: btoa("<script>alert(1)</script>") },
  { name: "empty.txt", media_type: "text/plain", content_base64: "" },
  { name: "page.html", media_type: "text/html", content_base64: btoa("another") },
];
const statement = "Sudah diterima.\n<b>Lihat resi</b> 🙏";

test("the statement and what its files are can be read, before the decision and after it", async () => {
  const { path, uuid } = await disputed();
  await service.operate("POST", `${path}/evidence`, { statement, files });
  const { status, json } = await service.askOperator(`${path}/evidence`);
  expect(status).toBe(200);
  endpoint?.success.schema.parse(json);
  expect(json).toMatchObject({
    uuid,
    statement,
    files: [
      { number: 1, name: "../resi 🧾.pdf", media_type: "application/pdf", size_bytes: 256 },
      { number: 2, name: "page.html", media_type: "text/html", size_bytes: 25 },
      { number: 3, name: "empty.txt", media_type: "text/plain", size_bytes: 0 },
      { number: 4, name: "page.html", media_type: "text/html", size_bytes: 7 },
    ],
  });
  await service.operate("POST", `${path}/resolve`, { outcome: "won" });
  expect((await service.askOperator(`${path}/evidence`)).json).toEqual(json);
});

test("a file comes back to the byte, to be saved under a harmless name, whatever it says that it is", async () => {
  const { path } = await disputed();
  await service.operate("POST", `${path}/evidence`, { statement, files });
  for (const [index, { content_base64 }] of files.entries()) {
    const { response, bytes } = await download(`${path}/evidence/files/${index + 1}`);
    expect([response.status, bytes.toString("base64")]).toEqual([200, content_base64]);
    expect(response.headers.get("content-type")).toBe("application/octet-stream");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("content-disposition")).toMatch(/^attachment; filename="[\w. -]+"; filename\*=UTF-8''/);
    expect(response.headers.get("x-request-id")).toMatch(/^req_/);
  }
  const { response } = await download(`${path}/evidence/files/1`);
  expect(response.headers.get("content-disposition")).toContain("UTF-8''__resi%20%F0%9F%A7%BE.pdf");
});

test("what was not submitted, or belongs to another book, is not found; without a token nothing is", async () => {
  const [mine, other] = [await disputed(), await disputed()];
  expect(outcome(await service.askOperator(`${mine.path}/evidence`))).toBe("404 OBJECT_NOT_FOUND");
  await service.operate("POST", `${mine.path}/evidence`, { statement, files });
  for (const path of [
    mine.path.replace(mine.merchantId, other.merchantId),
    mine.path.replace("sandbox", "production"),
    mine.path.replace(mine.uuid, "dsp_1"),
  ]) {
    for (const rest of ["/evidence", "/evidence/files/1"])
      expect(outcome(await service.askOperator(path + rest)), path).toBe("404 OBJECT_NOT_FOUND");
  }
  for (const number of ["0", "5", "01", "-1", "1e0", "page.html", "__proto__"]) {
    expect(outcome(await service.askOperator(`${mine.path}/evidence/files/${number}`)), number).toBe(
      "404 OBJECT_NOT_FOUND",
    );
  }
  expect((await fetch(`${service.operatorOrigin}/ops/v1${mine.path}/evidence/files/1`)).status).toBe(401);
});
