// Goal: nothing that must not be kept is kept, and everything else stays as it was written. Method: tables, and bodies with marks drawn at random.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Fault } from "./fault.ts";
import { parseObject } from "./json.ts";
import { REDACTED, isPrivate, redactObject, redactQuery, redactText } from "./redact.ts";

const redacted = (text: string, trusted?: string): string =>
  redactObject(parseObject(Buffer.from(text)), trusted === undefined ? {} : { trusted });

const privateNames =
  "card card_number CVV pan pin otp secret client_secret webhookSecret password access_token X-Signature Authorization api_key email " +
  "payer_account_number customer_email Phone phone_number mobile msisdn name full_name customerName account_name account_holder address nik billing_address " +
  "username cookie";
const plainNames =
  "amount_minor currency payment_method reference_id description bank_name bank_code status account_number qr_string metadata product_name " +
  "reference company panel spinner discard __proto__ constructor";

describe("names of fields", () => {
  test.each(privateNames.split(" "))("%s is private", (name) => expect(isPrivate(name)).toBe(true));
  test.each(["", ...plainNames.split(" ")])("%s is not", (name) => expect(isPrivate(name)).toBe(false));
});

test.each([
  ["pay with 4111 1111 1111 1111 now", `pay with ${REDACTED} now`],
  ["4111-1111-1111-1111", REDACTED],
  ["4111111111111112 fails its check digit", "4111111111111112 fails its check digit"],
  ["4111111111111111.", `${REDACTED}.`],
  ["No.4111111111111111", `No.${REDACTED}`],
  ["4111 1111 1111 1111 123", REDACTED],
  ["card 4111111111111111 12/27, code 123", `card ${REDACTED}/27, code 123`],
  ["12 4111111111111111-0927", REDACTED],
  ["4111111111111112 12 fails with what follows, too", "4111111111111112 12 fails with what follows, too"],
  ["4111111111111111.5 is a number with decimals", "4111111111111111.5 is a number with decimals"],
  ["1.4111111111111111 is one, too", "1.4111111111111111 is one, too"],
  ["41111111111111110000 is too long", "41111111111111110000 is too long"],
  ["mail budi.s@toko.example, please", `mail ${REDACTED}, please`],
  ["call +6281234567890", `call ${REDACTED}`],
  ["sk_test_8w3n6z1k5v0c7b2x", REDACTED],
  ["the key is whsec_Zm9yLXRoZS1jb250 ok", `the key is ${REDACTED} ok`],
  ["signed by whsec_J1Dfa/KtD7wF4Tvx+V9oCNaD2qlSSe3MTGwpRfA9kIg=.", `signed by ${REDACTED}.`],
  ["Authorization: Bearer abc.def", `Authorization: ${REDACTED}`],
  // The server key of an account at Midtrans, as each request carries it.
  ["authorization: Basic U0ItTWlkLXNlcnZlci1hYmNkZWY6, host: x", `authorization: ${REDACTED}, host: x`],
  ["Basic authentication is wanted", "Basic authentication is wanted"],
  ["order-1042, 3 @ 5000", "order-1042, 3 @ 5000"],
  ["2026-11-22T03:15:00Z", "2026-11-22T03:15:00Z"],
  ["pay_01kan3t5q8e4vs0x7ybd2m9fjh", "pay_01kan3t5q8e4vs0x7ybd2m9fjh"],
])("%s", (text, kept) => expect(redactText(text)).toBe(kept));

describe("JSON", () => {
  test("keeps fields, their order, and numbers as they were written", () => {
    const text = '{"b":1800.0,"a":[1e3,-0,12345678901234567890123,true,null],"":"x","__proto__":{"c":1}}';
    expect(redacted(text)).toBe(text);
  });

  test("leaves private fields out whole, whatever they hold; null stays", () => {
    expect(redacted('{"customer":{"name":"Budi","email":null,"phone":["+62"]},"card":{"number":"4"},"ok":1}')).toBe(
      `{"customer":{"name":"${REDACTED}","email":null,"phone":"${REDACTED}"},"card":"${REDACTED}","ok":1}`,
    );
  });

  test("leaves out what an error says was sent in a private field", () => {
    const told = (field: string, value: string) =>
      redacted(`{"error":{"details":{"field":"${field}","value":${value}}}}`);
    expect(told("customer.phone", '"0812 9988 7766"')).toContain(`"value":"${REDACTED}"`);
    expect(told("card.number.0", "41111111")).toContain(`"value":"${REDACTED}"`);
    expect(told("customer.email", "null")).toContain('"value":null');
    expect(told("reference_id", '"order-1"')).toContain('"value":"order-1"');
  });

  test("finds cards in numbers, too, and never takes an amount for one", () => {
    expect(redacted('{"n":4111111111111111,"amount_minor":4111111111111111}')).toBe(
      `{"n":"${REDACTED}","amount_minor":4111111111111111}`,
    );
  });

  test("redacts the names of fields, too", () => {
    expect(redacted('{"metadata":{"4111111111111111":"x"},"ayu@toko.example":{"note":"y"}}')).toBe(
      `{"metadata":{"${REDACTED}":"x"},"${REDACTED}":{"note":"y"}}`,
    );
  });

  test("believes long numbers where the service made them itself, and names not even there", () => {
    const text = '{"instructions":{"value":"8808123411111111111","account_name":"Budi"},"note":"4111111111111111"}';
    expect(redacted(text, "instructions")).toBe(
      `{"instructions":{"value":"8808123411111111111","account_name":"${REDACTED}"},"note":"${REDACTED}"}`,
    );
  });

  test("looks into nothing that is too deep", () => {
    const text = `${'{"a":'.repeat(100)}"4111111111111111"${"}".repeat(100)}`;
    expect(redacted(text)).not.toContain("4111");
  });

  test.each(["[1]", "{", "", '{"a":1,"a":2}', '"x"', '{"a":['.repeat(1500)])("refuses %s", (text) => {
    expect(() => redacted(text)).toThrow(Fault);
  });

  test("a mark in a private field is never in what is kept, wherever the field is", () => {
    const mark = "MARK-7f3a";
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        fc.constant("plain"),
        fc.array(tie("tree"), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom("a", "items", "note"), tie("tree")),
        fc.dictionary(
          fc.constantFrom("email", "Card-Number", "x_secret", "first_name"),
          fc.constantFrom(mark, [mark], { a: mark }),
        ),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        expect(redacted(JSON.stringify({ value }))).not.toContain(mark);
      }),
    );
  });
});

test.each([
  ["limit=5&status=paid", "limit=5&status=paid"],
  ["email=a%40b.example&limit=5", `email=${REDACTED}&limit=5`],
  ["q=a%40b.example", `q=${REDACTED}`],
  ["q=sk_test_8w3n6z1k5v0c7b2x&q=ok", `q=${REDACTED}&q=ok`],
  ["%65mail=x", `%65mail=${REDACTED}`],
  ["a@b.example", REDACTED],
  ["q=+6281234567890", `q=${REDACTED}`],
  ["4111111111111111=1&a%40b.example=", `${REDACTED}=1&${REDACTED}=`],
  ["broken=%E0%A4%A", "broken=%E0%A4%A"],
  ["", ""],
])("the query %s", (query, kept) => expect(redactQuery(query)).toBe(kept));
