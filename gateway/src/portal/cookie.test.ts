// Goal: the cookie of a session is one that no other page can set or read. Method: a table of headers.
import { expect, test } from "vitest";
import { setCookie, tokenOf } from "./cookie.ts";

test.each([
  [undefined, undefined],
  ["", undefined],
  ["session=abc", "abc"],
  ["a=b; session=abc; c=d", "abc"],
  ["session=abc; session=def", undefined],
  ["xsession=abc", undefined],
  ["__Host-session=abc", undefined],
])("plain http, in development: %s carries %s", (header, token) => {
  expect(tokenOf(header, false)).toBe(token);
});

test("over https only the name that browsers guard is believed", () => {
  expect(tokenOf("__Host-session=abc", true)).toBe("abc");
  expect(tokenOf("session=abc", true)).toBeUndefined();
});

test("it is out of reach of scripts and of other sites, and goes with its session", () => {
  expect(setCookie("abc", true)).toBe("__Host-session=abc; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=604800");
  expect(setCookie(undefined, false)).toBe("session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
});
