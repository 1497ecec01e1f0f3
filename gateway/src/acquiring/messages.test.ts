// Goal: whatever an acquirer sends, what is kept of it can be stored. Method: the statement for a message that fits nothing.
import { expect, test } from "vitest";
import { NOW } from "../../test/given.ts";
import { storable } from "./messages.ts";
import { keepStray } from "./strays.sql.ts";

test("a zero byte, which PostgreSQL refuses, is kept as a sign that something was there, and no text is longer than its column", () => {
  const message = { about: `POST /\0${"x".repeat(300)}`, status: undefined, text: `{"a":"\0"}` };
  const stray = {
    gatewayCode: "kawah",
    reason: "unreadable",
    operationKey: "\0key",
    kind: undefined,
    message,
  } as const;
  const texts = keepStray(stray, NOW).values?.filter((value) => typeof value === "string");
  expect(texts).toEqual(expect.arrayContaining(["\ufffdkey", `{"a":"\ufffd"}`, storable(message.about, 200)]));
  expect(texts?.join("")).not.toContain("\0");
  expect(storable(message.about, 200)).toHaveLength(200);
});
