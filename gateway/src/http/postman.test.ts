// Goal: a request of the Postman collection is one that the service takes. Method: run its script as Postman does, and check the signature.
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";

interface Item {
  name: string;
  item?: Item[];
  event?: { script: { exec: string[] } }[];
  request?: { method: string; url: { raw: string }; body?: { raw: string } };
}
const collection = JSON.parse(
  readFileSync(new URL("../../../openapi/gerbang.postman_collection.json", import.meta.url), "utf8"),
) as { variable: { key: string; value: string }[]; event: { script: { exec: string[] } }[]; item: Item[] };
const requests = collection.item.flatMap(({ item = [] }) => item);

/** What the script before a request leads to, with a Postman of this test's. */
function sent(method: string, raw: string | undefined): { headers: Map<string, string>; body: string } {
  const variables = new Map(collection.variable.map(({ key, value }) => [key, value]));
  const headers = new Map<string, string>();
  const request = {
    method,
    headers: { upsert: ({ key, value }: { key: string; value: string }) => headers.set(key, value) },
    body:
      raw === undefined
        ? undefined
        : { mode: "raw", raw, update: (to: { raw: string }) => Object.assign(request.body ?? {}, to) },
  };
  const replaceIn = (text: string): string =>
    text.replaceAll(/\{\{([$\w]+)\}\}/g, (_, key: string) => {
      if (key === "$timestamp") return String(Math.floor(Date.now() / 1000));
      return variables.get(key) ?? "9d3c4a52";
    });
  const pm = {
    request,
    variables: { get: (key: string) => variables.get(key), replaceIn },
    collectionVariables: {
      get: (key: string) => variables.get(key),
      set: (key: string, value: string) => variables.set(key, value),
    },
  };
  const HmacSHA256 = (text: string, key: string): string => createHmac("sha256", key).update(text).digest("hex");
  runInNewContext(collection.event[0]?.script.exec.join("\n") ?? "", { pm, require: () => ({ HmacSHA256 }) });
  return { headers, body: request.body?.raw ?? "" };
}

test("every operation is a request of it", () => {
  const { paths } = JSON.parse(readFileSync(new URL("../../../openapi/merchant.json", import.meta.url), "utf8")) as {
    paths: Record<string, object>;
  };
  const operations = Object.values(paths).flatMap((methods) => Object.keys(methods));
  expect(requests.length).toBe(operations.length);
});

test("what is sent is signed, after its variables are filled in", () => {
  for (const { name, request } of requests) {
    const { headers, body } = sent(request?.method ?? "", request?.body?.raw);
    expect(body, name).not.toContain("{{");
    if (body !== "") JSON.parse(body);
    const timestamp = headers.get("X-Timestamp") ?? "";
    expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(200);
    const signature = createHmac("sha256", "sk_test_...").update(`${timestamp}.${body}`).digest("hex");
    expect(headers.get("X-Signature"), name).toBe(signature);
    expect(headers.has("Idempotency-Key"), name).toBe(request?.method !== "GET");
  }
});

test("a creation keeps what the requests after it name", () => {
  const create = requests.find(({ name }) => name === "Create a payment");
  expect(create?.event?.[0]?.script.exec.join()).toContain('set("payment_reference", pm.response.json().reference)');
  const keys = new Set(collection.variable.map(({ key }) => key));
  const used = [...JSON.stringify(requests).matchAll(/\{\{(\w+)\}\}/g)].map(([, key]) => key);
  expect(used.filter((key) => !keys.has(key ?? ""))).toEqual([]);
});
