// Goal: nobody but Xendit is listened to. Method: the documented key by the published client's way, and tokens of every kind.
import { expect, test } from "vitest";
import { authorization, checkToken } from "./signature.ts";

test("the key is sent as the documentation's example and the published client send it", () => {
  // developers.xendit.co/api-reference/id, and xendit-node 7.0.0: "Basic " + btoa(secretKey + ":").
  expect(authorization("xnd_development_P4qDfOss0OCpl8RtKrROHjaQYNCk9dN5lSfk+R1l9Wbe+rSiCwZ3jw==")).toBe(
    "Basic eG5kX2RldmVsb3BtZW50X1A0cURmT3NzME9DcGw4UnRLclJPSGphUVlOQ2s5ZE41bFNmaytSMWw5V2JlK3JTaUN3WjNqdz09Og==",
  );
});

const accepted = ["token-of-today", "token-before"];

test.for(["token-of-today", "token-before"])("%s is taken", (token) => {
  expect(() => checkToken({ "x-callback-token": token }, accepted)).not.toThrow();
});

test.for<[string | string[] | undefined, string]>([
  [undefined, "SIGNATURE_MISSING"],
  ["", "SIGNATURE_INVALID"],
  ["token-of-toda", "SIGNATURE_INVALID"],
  ["token-of-today ", "SIGNATURE_INVALID"],
  ["TOKEN-OF-TODAY", "SIGNATURE_INVALID"],
  [["token-of-today", "token-of-today"], "SIGNATURE_INVALID"],
])("the token %s is %s", ([token, code]) => {
  expect(() => checkToken({ "x-callback-token": token }, accepted)).toThrow(expect.objectContaining({ code }));
});

test("an empty token opens nothing, whatever is accepted", () => {
  expect(() => checkToken({ "x-callback-token": "" }, [""])).toThrow(
    expect.objectContaining({ code: "SIGNATURE_INVALID" }),
  );
  expect(() => checkToken({ "x-callback-token": "a" }, [])).toThrow(
    expect.objectContaining({ code: "SIGNATURE_INVALID" }),
  );
});
