// Goal: the cookie of a session is one that no other page can set or read. Method: a table of headers.
import { expect, test } from "vitest";
import { cookieOf, setCookie, tokenOf } from "./cookie.ts";

const [plain, secure] = [cookieOf("portal", false), cookieOf("portal", true)];

test.each([
  [undefined, undefined],
  ["", undefined],
  ["session=abc", "abc"],
  ["a=b; session=abc; c=d", "abc"],
  ["session=abc; session=def", undefined],
  ["xsession=abc", undefined],
  ["console-session=abc", undefined],
  ["__Host-session=abc", undefined],
])("plain http, in development: %s carries %s", (header, token) => {
  expect(tokenOf(header, plain)).toBe(token);
});

test("over https only the name that browsers guard is believed", () => {
  expect(tokenOf("__Host-session=abc", secure)).toBe("abc");
  expect(tokenOf("session=abc", secure)).toBeUndefined();
});

test("the console believes its own cookie alone", () => {
  expect(tokenOf("__Host-console-session=abc; __Host-session=def", cookieOf("console", true))).toBe("abc");
  expect(tokenOf("session=abc", cookieOf("console", false))).toBeUndefined();
});

test("it is out of reach of scripts and of other sites, and goes with its session", () => {
  expect(setCookie("abc", secure)).toBe("__Host-session=abc; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=604800");
  expect(setCookie(undefined, plain)).toBe("session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
});
