// Goal: their token is asked for once and kept shortly; ours needs no memory. Method: a clock that is moved by hand.
import { expect, test } from "vitest";
import { SECOND } from "../../ground/clock.ts";
import { type GivenToken, OWN_TOKEN_SECONDS, TokenStore, isOwnToken, issueToken } from "./tokens.ts";

const never = new AbortController().signal;
const start = Date.parse("2026-11-23T14:00:00Z") * 1000;

function store(seconds = 900) {
  const clock = { at: start, now: () => clock.at };
  const asked: { give: (given: GivenToken) => void; fail: (error: Error) => void }[] = [];
  const tokens = new TokenStore(() => new Promise((give, fail) => asked.push({ give, fail })), clock);
  const give = (token: string): void => asked.at(-1)?.give({ token, seconds });
  return { clock, asked, tokens, give };
}

test("however many wait, one token is asked for", async () => {
  const { asked, tokens, give } = store();
  const waiting = Array.from({ length: 100 }, () => tokens.current(never));
  give("one");
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(["one"]));
  expect(asked.length).toBe(1);
});

test("a token is kept until shortly before it ends", async () => {
  const { clock, asked, tokens, give } = store();
  const first = tokens.current(never);
  give("one");
  await first;
  clock.at = start + 839 * SECOND;
  expect(await tokens.current(never)).toBe("one");
  clock.at = start + 840 * SECOND;
  const second = tokens.current(never);
  expect(asked.length).toBe(2);
  give("two");
  expect(await second).toBe("two");
});

test("a short token is kept for half of its time", async () => {
  const { clock, asked, tokens, give } = store(30);
  const first = tokens.current(never);
  give("one");
  await first;
  clock.at = start + 14 * SECOND;
  expect(await tokens.current(never)).toBe("one");
  clock.at = start + 15 * SECOND;
  void tokens.current(never);
  expect(asked.length).toBe(2);
});

test("a failure is everybody's, and the next one asks again", async () => {
  const { asked, tokens, give } = store();
  const waiting = [tokens.current(never), tokens.current(never)];
  asked[0]?.fail(new Error("no"));
  expect((await Promise.allSettled(waiting)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  const next = tokens.current(never);
  give("two");
  expect(await next).toBe("two");
});

test("whoever stops waiting does so alone", async () => {
  const { tokens, give } = store();
  const stop = new AbortController();
  const left = tokens.current(stop.signal);
  const stays = tokens.current(never);
  stop.abort();
  await expect(left).rejects.toThrow("was ended");
  give("one");
  expect(await stays).toBe("one");
});

test("a token that they refuse is forgotten, and not the one that came meanwhile", async () => {
  const { asked, tokens, give } = store();
  const first = tokens.current(never);
  give("one");
  await first;
  tokens.forget("one");
  const second = tokens.current(never);
  give("two");
  await second;
  tokens.forget("one");
  expect(await tokens.current(never)).toBe("two");
  expect(asked.length).toBe(2);
});

test("a token of ours is good for its time, for its acquirer, and under the secret before, too", () => {
  const token = issueToken("secret", "doku", start);
  expect(token).toMatch(/^[\w.-]{60,90}$/);
  expect(isOwnToken(["secret"], "doku", token, start)).toBe(true);
  expect(isOwnToken(["new", "secret"], "doku", token, start)).toBe(true);
  expect(isOwnToken(["secret"], "doku", token, start + (OWN_TOKEN_SECONDS - 1) * SECOND)).toBe(true);
  expect(isOwnToken(["secret"], "doku", token, start + OWN_TOKEN_SECONDS * SECOND)).toBe(false);
  expect(isOwnToken(["new"], "doku", token, start)).toBe(false);
  expect(isOwnToken([], "doku", token, start)).toBe(false);
  expect(isOwnToken(["secret"], "bri", token, start)).toBe(false);
  expect(issueToken("secret", "doku", start)).not.toBe(token);
});

test("a token that was changed, or is none, is not ours", () => {
  const token = issueToken("secret", "doku", start);
  const later = token.replace(/^\d+/, (ends) => String(Number(ends) + 1));
  for (const other of [later, `${token}x`, token.slice(1), "", "a.b.c", "9".repeat(5_000)])
    expect(isOwnToken(["secret"], "doku", other, start), other.slice(0, 80)).toBe(false);
});
