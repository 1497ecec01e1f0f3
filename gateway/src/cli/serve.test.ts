// Goal: a start tells where operators reach it, and where it cannot listen there it says so and ends.
// Method: the program as a process of its own.
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Service, gerbang } from "../../../e2e/kit/service.ts";
import { type TestDatabase, cloneDatabase } from "../../test/kit.ts";

let database: TestDatabase;
let service: Service;
beforeAll(async () => {
  database = await cloneDatabase();
  service = await Service.start({ env: { DATABASE_URL: database.url } });
});
afterAll(() => service.discard());

test("demo.json and the greeting say where the operators' API is, and it answers there", async () => {
  const { ops_url: url, operator_token: token } = service.demo;
  expect(url).toBe(service.opsUrl);
  expect(service.output).toContain(url);
  expect((await fetch(`${url}/acquirers`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
});

test("a taken OPS_PORT ends the start with a sentence that names it", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const env = { DATABASE_URL: database.url, GERBANG_DATA: service.dataDirectory, PORT: "0", OPS_PORT: String(port) };
  const { code, stderr } = await gerbang(["serve"], env);
  taken.close();
  expect(code).toBe(1);
  expect(stderr).toContain(`The operators' port ${port} of 127.0.0.1 is taken. Set OPS_PORT to another one.\n`);
  expect(stderr).not.toMatch(/^ +at /m);
});

test("an OPS_HOST that is no address of this machine ends the start with a sentence that names it", async () => {
  const env = {
    NODE_ENV: "production",
    MASTER_KEY: "3b1f6a0c9d2e47588f6b1c0d9e8a7f65443322110f0e0d0c1b2a394857667584",
    OPERATOR_TOKEN: "op_9f2c71e04d5b8a6630c1e7f2",
    BASE_URL: "https://pay.example/v1",
    DATABASE_URL: (await cloneDatabase()).url,
    PORT: "0",
    METRICS_PORT: "0",
    OPS_HOST: "192.0.2.1", // reserved for documents
  };
  const { code, stderr } = await gerbang(["serve"], env);
  expect([code, stderr]).toEqual([1, expect.stringContaining("cannot listen on port 0 of 192.0.2.1")]);
  expect(stderr).toContain("Set OPS_HOST and OPS_PORT.");
  expect(stderr).not.toMatch(/^ +at /m);
});
