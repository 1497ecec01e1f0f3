// Goal: no line of the log has a secret, nor the values of a database's row. Method: what is handed to a log, and the lines that it writes.
import { expect, test } from "vitest";
import { createLog } from "./log.ts";

function lineOf(fields: object): Record<string, unknown> {
  const lines: string[] = [];
  createLog("info", { write: (line) => void lines.push(line) }).info(fields, "said");
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? "") as Record<string, unknown>;
}

test.each(["secret", "password", "authorization", "signature"])(
  "a field `%s` is redacted, and one level below",
  (name) => {
    const fields = { client_id: "ak_test_1", [name]: "sk_test_2", headers: { host: "a.example", [name]: "sk_test_2" } };
    const line = lineOf(fields);
    expect(line).toMatchObject({
      client_id: "ak_test_1",
      [name]: "[redacted]",
      headers: { host: "a.example", [name]: "[redacted]" },
      msg: "said",
    });
    expect(fields.headers).toEqual({ host: "a.example", [name]: "sk_test_2" }); // what was handed over stays as it is
  },
);

test.each([
  "SB-Mid-server-abc_DEF-123",
  "Mid-server-abc123",
  "xnd_development_O46JfOtygef9kMNsK",
  "rk_live_51abc",
  "sk_test_72zrn2q",
  "Bearer eyJhbGciOi",
  "budi@example.com",
])("what an error quotes of %s is redacted, in its causes and its stack too", (quoted) => {
  const cause = new Error(`the answer was 401: unknown key ${quoted}`);
  const line = JSON.stringify(lineOf({ err: new Error(`refused: ${quoted}`, { cause }) }));
  expect(line).not.toContain(quoted);
  expect(line).toContain("the answer was 401: unknown key [redacted]");
});

test("an error is told with its causes, and without what PostgreSQL adds of the row", () => {
  const cause = Object.assign(new Error("duplicate key"), {
    code: "23505",
    detail: "Key (email)=(budi@example.com) exists.",
  });
  const line = lineOf({ err: new Error("a batch failed", { cause }), lane: "creation" });
  expect(line).toMatchObject({
    lane: "creation",
    err: { type: "Error", message: "a batch failed", cause: { message: "duplicate key", code: "23505" } },
  });
  expect(JSON.stringify(line)).not.toContain("budi");
});

test("a reason in words is told as it is, without what may be a secret", () => {
  const { err } = lineOf({ err: "waited too long in the lane, for budi@example.com" });
  expect(err).toEqual({ type: "string", message: "waited too long in the lane, for [redacted]" });
});
