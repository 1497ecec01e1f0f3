// Goal: a password is kept so that it cannot be read, compared so that nothing is told, and a bad one is refused. Method: examples and properties.
import { argon2Sync } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hashPassword, isPassword, objectionToPassword } from "./passwords.ts";

const GOOD = "kopi tubruk senja";

test("what is kept proves the password and no other, and is another each time", async () => {
  const [kept, again] = [await hashPassword("portal", GOOD), await hashPassword("portal", GOOD)];
  // A salt of 16 bytes, and a tag of 32.
  expect(kept).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(kept).not.toBe(again);
  expect(kept).not.toContain("kopi");
  expect([await isPassword("portal", GOOD, kept), await isPassword("portal", GOOD, again)]).toEqual([true, true]);
  for (const wrong of [`${GOOD} `, GOOD.toUpperCase(), "", `${GOOD}\0`])
    expect(await isPassword("portal", wrong, kept)).toBe(false);
});

test("the same characters in another composition are the same password", async () => {
  expect(
    await isPassword("portal", "cafe\u0301 hitam pekat", await hashPassword("portal", "caf\u00e9 hitam pekat")),
  ).toBe(true);
});

test("a hash of another cost, as an older or a newer version keeps it, is compared by its own", async () => {
  const nonce = Buffer.from("sixteen bytes in");
  const cost = { parallelism: 1, tagLength: 32, memory: 8_192, passes: 1 };
  const tag = argon2Sync("argon2id", { message: Buffer.from(GOOD), nonce, ...cost });
  const base64 = (bytes: Buffer): string => bytes.toString("base64").replaceAll("=", "");
  const kept = `$argon2id$v=19$m=8192,t=1,p=1$${base64(nonce)}$${base64(tag)}`;
  expect([await isPassword("portal", GOOD, kept), await isPassword("portal", "another one", kept)]).toEqual([
    true,
    false,
  ]);
  expect(await isPassword("portal", GOOD, kept.replace("t=1", "t=2"))).toBe(false);
});

test.each([undefined, "", "x", "$argon2id$v=19$m=19456,t=2,p=1$abc", "$argon2i$v=19$m=19456,t=2,p=1$YWJj$YWJj"])(
  "against %s nothing is right",
  async (kept) => {
    expect(await isPassword("portal", GOOD, kept)).toBe(false);
  },
);

test("comparing takes as long where there is nothing to compare with", async () => {
  const kept = await hashPassword("portal", GOOD);
  const timed = async (against: string | undefined): Promise<number> => {
    const begun = process.hrtime.bigint();
    for (let round = 0; round < 5; round++) await isPassword("portal", "something else", against);
    return Number(process.hrtime.bigint() - begun);
  };
  await timed(kept);
  const [known, unknown] = [await timed(kept), await timed(undefined)];
  // The same work is done; the clock is only to show that it is not skipped.
  expect(unknown).toBeGreaterThan(known / 4);
});

test("however many guess at the portal, a password of the console has its turn", async () => {
  const kept = await hashPassword("portal", GOOD);
  const guesses = Array.from({ length: 80 }, () =>
    isPassword("portal", "wrong", kept).catch(({ code }) => code as string),
  );
  const ended: string[] = [];
  const all = Promise.all(guesses).then(() => ended.push("portal"));
  expect(await isPassword("console", GOOD, kept)).toBe(true);
  ended.push("console");
  await all;
  expect(ended).toEqual(["console", "portal"]);
  expect((await Promise.all(guesses)).filter((one) => one === "SERVICE_UNAVAILABLE")).toHaveLength(80 - 66);
});

describe("refused", () => {
  test.each<[string, RegExp]>([
    ["short", /longer/],
    ["elevenchars", /longer/],
    ["x".repeat(201), /shorter/],
    ["aaaaaaaaaaaaaaaa", /different/],
    ["abababababab", /different/],
    ["password1234", /tried/],
    ["123456789012", /tried/],
    ["qwertyuiop12", /tried/],
    ["passwordpassword", /tried/],
    ["letmeinletmein", /tried/],
    ["sari@kopi.example 99", /your name/],
    ["I work at KopiGerbang!", /your name/],
    ["half \ud83d of a pair", /text/],
    ["nothing\0after it", /text/],
  ])("%s", async (password, why) => {
    expect(await objectionToPassword(password, ["sari@kopi.example", "kopigerbang", "Sa"])).toMatch(why);
  });

  test.each([12, 200])("not one of %i characters", async (length) => {
    expect(await objectionToPassword("tak disangka, ".repeat(20).slice(-length), [])).toBeUndefined();
  });

  test("never a passphrase of random words", async () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{4,9}$/), { minLength: 4, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(words, async (chosen) => {
        const phrase = `${chosen.join(" ")} Zq7`;
        const objection = await objectionToPassword(phrase, ["sari@kopi.example"]);
        if (new Set(phrase).size >= 5) expect(objection).toBeUndefined();
      }),
      { numRuns: 50 },
    );
  });
});
