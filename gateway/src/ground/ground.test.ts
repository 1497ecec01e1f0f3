// Goal: the ground holds. Method: examples where the interface names a value, properties everywhere else.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyText } from "../../test/any-text.ts";
import { parseSqlTime, parseWireTime, sqlTime, systemClock, wireTime } from "./clock.ts";
import { ConfigError, readConfig } from "./config.ts";
import { Vault, digestOf, isSigned, newSecret, sameText, sign } from "./crypto.ts";
import { SigningKey } from "./signing-key.ts";
import { Fault, faultCodes, showable } from "./fault.ts";
import { idOf, isId, newId, uuidOf } from "./ids.ts";
import { parseObject } from "./json.ts";
import {
  MINOR_MAX,
  currencyCodes,
  decimal,
  exponentOf,
  feeOf,
  isCurrency,
  readable,
  wireAmount,
  wireMinor,
} from "./money.ts";

const micros = fc.integer({ min: 0, max: 4_102_444_800_000_000 });

describe("time", () => {
  test("an instant survives the way through PostgreSQL's text with its microseconds", () => {
    fc.assert(
      fc.property(micros, fc.integer({ min: 0, max: 999_999 }), (at, fraction) => {
        const stored = (moment: number): string =>
          sqlTime(moment).replace("T", " ").replace("Z", "+00").replace(/0+\+/, "+").replace(".+", "+");
        const again = at - (at % 1_000_000) + fraction;
        expect(parseSqlTime(stored(at))).toBe(at);
        expect(parseSqlTime(stored(again)), "of a second that was read before").toBe(again);
        expect(parseSqlTime(stored(again).replace("+00", "+05:30")), "elsewhere").toBe(again - 19_800_000_000);
      }),
    );
  });

  test("the wire shows whole seconds, rounded down, in UTC", () => {
    expect(wireTime(1_795_246_942_999_999)).toBe("2026-11-21T07:42:22Z");
    fc.assert(
      fc.property(micros, (at) => {
        expect(wireTime(at)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
        expect(Date.parse(wireTime(at))).toBe(Math.floor(at / 1_000_000) * 1000);
      }),
    );
  });

  test("dates that do not exist and other spellings are refused", () => {
    expect(parseWireTime("2026-02-28")?.wholeDay).toBe(true);
    expect(parseWireTime("2026-02-28T10:00:00Z")?.wholeDay).toBe(false);
    const second = parseWireTime("2026-02-28T10:00:00Z")?.at ?? Number.NaN;
    for (const [fraction, micros] of [
      ["1", 100_000],
      ["1234", 123_400],
      ["123456", 123_456],
      ["000001", 1],
    ] as const)
      expect(parseWireTime(`2026-02-28T17:00:00.${fraction}+07:00`)?.at).toBe(second + micros);
    for (const text of [
      "0000-01-01",
      "9999-12-31",
      "1969-12-31T23:59:59.5Z",
      "2026-02-31T00:00:00Z",
      "2026-02-30",
      "2026-13-01",
      "28-02-2026",
      "2026-02-28 10:00:00",
      "today",
      "",
      "2026-02-28T24:00:00Z", // JavaScript takes it for the next day
      "2026-02-28T25:00:00Z",
    ]) {
      expect(parseWireTime(text), text).toBeUndefined();
    }
  });

  test("the system's clock never stands still or goes back", () => {
    let before = systemClock.now();
    for (let round = 0; round < 10_000; round++) {
      const now = systemClock.now();
      expect(now).toBeGreaterThan(before);
      before = now;
    }
  });
});

describe("identifiers", () => {
  test("the wire's and the database's form are two spellings of the same", () => {
    fc.assert(
      fc.property(micros, (at) => {
        const id = newId("payment", at);
        expect(isId("payment", id)).toBe(true);
        expect(uuidOf(id)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(idOf("payment", uuidOf(id))).toBe(id);
      }),
    );
  });

  test("order follows time, on the wire and in the database", () => {
    fc.assert(
      fc.property(micros, fc.integer({ min: 1, max: 10_000_000 }), (at, later) => {
        const [a, b] = [newId("event", at), newId("event", at + later)];
        // Below a quarter of a microsecond's resolution nothing is promised; a whole microsecond always counts.
        expect(a < b).toBe(true);
        expect(uuidOf(a) < uuidOf(b)).toBe(true);
      }),
    );
  });

  test("those made for one moment are in the order in which they were made", () => {
    for (const at of [1_000_000, 1_000_001, 1_000_000]) {
      const made = Array.from({ length: 5_000 }, () => newId("event", at));
      expect(made.toSorted()).toEqual(made);
      expect(new Set(made).size).toBe(made.length);
    }
  });

  test("anything malformed is no identifier", () => {
    const good = newId("payment", 0);
    for (const text of [
      "",
      "pay_",
      good.slice(0, -1),
      `${good}0`,
      good.toUpperCase(),
      good.replace("pay_", "rfd_"),
      `pay_8${good.slice(5)}`,
      `${good.slice(0, -1)}u`,
      `${good}\n`,
    ]) {
      expect(isId("payment", text), text).toBe(false);
    }
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(isId("payment", text)).toBe(/^pay_[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(text) && !text.endsWith("\n"));
      }),
    );
  });
});

describe("money", () => {
  test("an amount is a JSON number as far as JSON carries it exactly, in both directions", () => {
    expect(MINOR_MAX).toBe(BigInt(Number.MAX_SAFE_INTEGER));
    for (const amount of [0n, 1n, -1n, MINOR_MAX, -MINOR_MAX])
      expect([wireAmount(amount), wireMinor(amount)]).toEqual([Number(amount), Number(amount)]);
    for (const amount of [MINOR_MAX + 1n, -MINOR_MAX - 1n]) {
      expect(() => wireAmount(amount)).toThrow("cannot carry exactly");
      expect(wireMinor(amount)).toBeNull();
    }
  });

  test("a currency is listed once, and what is none has no exponent", () => {
    expect(currencyCodes).toHaveLength(new Set(currencyCodes).size);
    expect(currencyCodes.every((code) => /^[A-Z]{3}$/.test(code))).toBe(true);
    for (const code of ["", "idr", "XXX", "constructor"])
      expect(() => exponentOf(code), code).toThrow(`unknown currency ${code}`);
  });

  test("exponents come from ISO 4217, and IDR has two", () => {
    expect(["IDR", "JPY", "KWD", "CLF", "USD"].map(exponentOf)).toEqual([2, 0, 3, 4, 2]);
    for (const code of ["idr", "XXX", "", "toString", "__proto__", "constructor"])
      expect(isCurrency(code), code).toBe(false);
  });

  test("amounts read as people write them", () => {
    expect(readable(1_234_567n, "IDR")).toBe("12,345.67");
    expect(readable(5n, "IDR")).toBe("0.05");
    expect(readable(1_234_567n, "JPY")).toBe("1,234,567");
    expect(readable(-100n, "USD")).toBe("-1.00");
    expect(readable(0n, "IDR")).toBe("0.00");
    expect(["0", "-1", "1", "-1000"].map((amount) => decimal(BigInt(amount), "KWD"))).toEqual([
      "0.000",
      "-0.001",
      "0.001",
      "-1.000",
    ]);
    expect([0n, -1n].map((amount) => decimal(amount, "JPY"))).toEqual(["0", "-1"]);
  });

  test("a fee is half up, within its bounds, and never more than the amount", () => {
    expect(feeOf(150_000n, { basisPoints: 70, flatMinor: 0n })).toBe(1050n);
    expect(feeOf(50n, { basisPoints: 100, flatMinor: 0n })).toBe(1n); // 0.5 goes up
    expect(feeOf(49n, { basisPoints: 100, flatMinor: 0n })).toBe(0n);
    expect(feeOf(10n, { basisPoints: 0, flatMinor: 400_000n })).toBe(10n);
    const rule = fc.record({
      basisPoints: fc.integer({ min: 0, max: 10_000 }),
      flatMinor: fc.bigInt({ min: 0n, max: 10n ** 9n }),
      minimumMinor: fc.option(fc.bigInt({ min: 0n, max: 10n ** 6n }), { nil: undefined }),
    });
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: MINOR_MAX }),
        rule,
        fc.bigInt({ min: 0n, max: 10n ** 9n }),
        (amount, base, above) => {
          const maximumMinor = (base.minimumMinor ?? 0n) + above;
          const fee = feeOf(amount, { ...base, maximumMinor });
          expect(fee >= 0n && fee <= amount && fee <= maximumMinor).toBe(true);
          expect(fee === amount || fee >= (base.minimumMinor ?? 0n)).toBe(true);
        },
      ),
    );
  });
});

describe("JSON", () => {
  const parse = (text: string): unknown => parseObject(Buffer.from(text));

  test("what it accepts, it reads as JSON does", () => {
    const value = fc.letrec((tie) => ({
      value: fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), anyText(), tie("array"), tie("object")),
      array: fc.array(tie("value"), { maxLength: 4 }),
      object: fc.dictionary(fc.string(), tie("value"), { maxKeys: 4 }),
    })).object;
    fc.assert(
      fc.property(value, (given) => {
        const text = JSON.stringify(given);
        expect(parse(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  test("a duplicate key is refused at any depth and in any spelling", () => {
    for (const text of [
      '{"a":1,"a":1}',
      '{"b":{"a":1,"\\u0061":2}}',
      '{"b":[{"c":0},{"a":1,"x":[],"a":2}]}',
      '{"a":"x,\\"a\\":","a":1}',
    ]) {
      expect(() => parse(text), text).toThrow(Fault);
    }
    expect(parse('{"a":{"a":1},"b":[{"a":1},{"a":2}],"c":"\\"a\\":1"}')).toBeDefined();
  });

  test("a number that JavaScript would write in another way is no number, and is shown as it was sent", () => {
    const unusual = [
      "1.0",
      "1e3",
      "100E-2",
      "9007199254740991.4",
      "0.99999999999999999",
      "9007199254740993",
      "-0",
      "1e999",
    ];
    for (const number of [...unusual, "1.50", "-1.0", "0e1"]) {
      const { amount, text } = parse(`{"amount":${number},"text":"1.0e5"}`) as { amount: unknown; text: string };
      expect([typeof amount, text], number).toEqual(["symbol", "1.0e5"]);
      // What no double can hold is shown as text: readers of JSON would stop at it.
      expect(JSON.stringify(showable(amount))).toBe(number === "1e999" ? '"1e999"' : number);
    }
    expect(parse('{"a":[-5,12],"b":true,"c":false,"d":0,"e":1.5,"f":9007199254740991}')).toEqual({
      a: [-5, 12],
      b: true,
      c: false,
      d: 0,
      e: 1.5,
      f: 9_007_199_254_740_991,
    });
    const endless = `1.${"0".repeat(5_000)}`;
    expect(showable((parse(`{"a":${endless}}`) as { a: unknown }).a)).toBe(`${endless.slice(0, 100)}…`);
  });

  test("an error shows whole characters of a text alone, a hundred at most: other readers of JSON stop at half a one", () => {
    expect(showable(`a${"😀".repeat(99)}`)).toBe(`a${"😀".repeat(99)}`);
    expect(showable(`a${"😀".repeat(100)}`)).toBe(`a${"😀".repeat(99)}…`);
    expect(showable("half \ud83d pair")).toBe("half \ufffd pair");
    expect(showable("x\n".repeat(51))).toBe(`${"x\n".repeat(50)}…`);
  });

  test("bad UTF-8, other values and byte order marks are refused", () => {
    for (const bytes of [
      Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
      "",
      "[]",
      "1",
      "null",
      '"x"',
      "{",
      "{}x",
      "\uFEFF{}",
    ]) {
      expect(() => parseObject(Buffer.from(bytes as string)), String(bytes)).toThrow(Fault);
    }
  });

  test("depth costs no stack", () => {
    const nested = (depth: number): string => `{"b":1.5,"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;
    expect(Object.keys(parse(nested(1_000)) as object)).toEqual(["b", "a"]);
    expect(showable((parse(nested(1_000)) as { a: unknown }).a)).toBe("(array)");
    expect(() => parse(nested(100_000))).toThrow(Fault);
  });

  test("a key named __proto__ is a key like any other", () => {
    for (const text of ['{"__proto__":{"a":1.0}}', '{"__proto__":{"a":1}}', '{"\\u005f_proto__":1}']) {
      const value = parse(text);
      expect([Object.keys(value as object), Object.getPrototypeOf(value)], text).toEqual([
        ["__proto__"],
        Object.prototype,
      ]);
    }
    expect(() => parse('{"__proto__":1,"\\u005f_proto__":2}')).toThrow(Fault);
  });
});

describe("cryptography", () => {
  test("a signature is what the interface says, byte for byte", () => {
    // Computed with: printf '%s' '1700000000.{"a":1}' | openssl dgst -sha256 -hmac sk_test_vector
    expect(sign(new SigningKey("sk_test_vector"), "1700000000", '{"a":1}')).toBe(
      "d862e8a364211fae090d15fc54102642d008f33da11cbc5838ada260cce9a1ab",
    );
    expect(sign(new SigningKey("sk_test_vector"), "1700000000", "")).toBe(
      "b50daf154145cf9c53564e507030fe3812d4345591bc37efdbc1364f8c1ad651",
    );
  });

  test("what is signed is told from everything else", () => {
    const key = new SigningKey("sk_test_vector");
    const good = sign(key, "1700000000", "{}");
    expect(isSigned(key, "1700000000", "{}", good)).toBe(true);
    const others = [good.toUpperCase(), `${good} `, `${good}00`, good.slice(2), "", "zz".repeat(32)];
    const flipped = [...good].map((digit, at) => good.slice(0, at) + (digit === "0" ? "1" : "0") + good.slice(at + 1));
    for (const other of [...others, ...flipped]) expect(isSigned(key, "1700000000", "{}", other), other).toBe(false);
    expect(isSigned(key, "1700000001", "{}", good)).toBe(false);
    expect(isSigned(key, "1700000000", "{} ", good)).toBe(false);
    expect(isSigned(new SigningKey("sk_test_other"), "1700000000", "{}", good)).toBe(false);
  });

  test("a sealed secret opens for its owner alone, unchanged, under its own master key", () => {
    const vault = new Vault("ab".repeat(32));
    const sealed = vault.seal("sk_test_secret", "credential/a");
    expect(vault.open(sealed, "credential/a")).toBe("sk_test_secret");
    expect(sealed.toString("latin1")).not.toContain("sk_test_secret");
    expect(() => vault.open(sealed, "credential/b")).toThrow();
    expect(() => new Vault("cd".repeat(32)).open(sealed, "credential/a")).toThrow();
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => vault.open(changed, "credential/a"), `byte ${at}`).toThrow();
    }
  });

  test("a master key of another size is refused", () => {
    for (const key of ["", "short", "ab".repeat(31), "zz".repeat(32)]) expect(() => new Vault(key), key).toThrow();
    expect(() => new Vault(Buffer.alloc(32, 7).toString("base64"))).not.toThrow();
  });

  test("parts of a digest do not run into each other", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.array(fc.string()), (a, b) => {
        expect(digestOf(...a).equals(digestOf(...b))).toBe(
          JSON.stringify(a.map((text) => Buffer.from(text).toString("hex"))) ===
            JSON.stringify(b.map((text) => Buffer.from(text).toString("hex"))),
        );
      }),
    );
  });

  test("texts are the same only when they are", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(sameText(a, b)).toBe(Buffer.from(a).equals(Buffer.from(b)));
        expect(sameText(a, a)).toBe(true);
      }),
    );
    expect(new Set(Array.from({ length: 1000 }, () => newSecret("sk_test_"))).size).toBe(1000);
  });
});

describe("faults", () => {
  test("every code has a status and a sentence that says what to do", () => {
    for (const code of faultCodes) {
      const fault = new Fault(code);
      expect(fault.status, code).toBeGreaterThanOrEqual(200);
      expect(fault.message.length, code).toBeGreaterThan(10);
      expect(fault.stored && fault.status >= 500, code).toBe(false);
    }
  });
});

describe("configuration", () => {
  test("all mistakes are reported together", () => {
    const read = () =>
      readConfig({ PORT: "http", BASE_URL: "ftp://x", LOG_LEVEL: "loud", WEBHOOK_HEADER_PREFIX: "X SVC" });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(/PORT[\s\S]*BASE_URL[\s\S]*WEBHOOK_HEADER_PREFIX[\s\S]*LOG_LEVEL/);
    expect(read).toThrow(/LOG_LEVEL: must be one of "trace", "debug", /);
  });

  test("production demands its secrets and refuses development's loophole", () => {
    expect(() => readConfig({ NODE_ENV: "production", WEBHOOK_ALLOW_HOSTS: "localhost" })).toThrow(
      /MASTER_KEY[\s\S]*OPERATOR_TOKEN[\s\S]*BASE_URL[\s\S]*DATABASE_URL[\s\S]*WEBHOOK_ALLOW_HOSTS/,
    );
  });

  test("an empty environment is a development on port 8080", () => {
    expect(readConfig({})).toMatchObject({
      mode: "development",
      port: 8080,
      host: "127.0.0.1",
      webhookHeaderPrefix: "X-SVC-",
    });
  });
});
