// Goal: the address that a client signed is the one it called, and no other can be made to look like it. Method: tables of what the header Host,
// the configuration and the target say.
import { expect, test } from "vitest";
import { addressOf, publicRootOf } from "./signed-message.ts";

test.each([
  ["shop.test", "http://shop.test"],
  ["SHOP.test:8080", "http://shop.test:8080"],
  ["[::1]:8080", "http://[::1]:8080"],
  ["shop.test/v1", undefined],
  ["shop.test?x", undefined],
  ["user@shop.test", undefined],
  ["shop.test, shop.test", undefined],
  ["", undefined],
])("Host %s", (host, root) => {
  const uri = addressOf({ target: "/v1/x", headers: { host: [host] }, publicRoot: undefined })?.uri;
  expect(uri).toBe(root && `${root}/v1/x`);
});

test("without Host, or with two, nobody knows it", () => {
  for (const host of [undefined, ["a.test", "b.test"]])
    expect(addressOf({ target: "/v1/x", headers: { host }, publicRoot: undefined })).toBeUndefined();
});

test.each([
  ["https://pay.test/v1", "https://pay.test"],
  ["HTTPS://Pay.test:443/v1", "https://pay.test"],
  ["http://localhost:8080/v1", "http://localhost:8080"],
  ["https://pay.test/gateway/v1", "https://pay.test/gateway"],
])("of the configured %s", (baseUrl, root) => expect(publicRootOf(baseUrl)).toBe(root));

test("the parts that are derived from it are as the standard wants them", () => {
  const message = { target: "/v1/x%2f?a=%20", headers: {}, publicRoot: "https://Pay.test:443" };
  expect(addressOf(message)).toEqual({
    uri: "https://Pay.test:443/v1/x%2f?a=%20",
    scheme: "https",
    authority: "pay.test",
    path: "/v1/x%2f",
    query: "?a=%20",
  });
  expect(addressOf({ ...message, target: "/v1" })?.query).toBe("?");
});
