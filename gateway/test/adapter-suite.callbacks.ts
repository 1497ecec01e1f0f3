// The part of the adapter suite about callbacks: an adapter accepts only those that are signed, fresh, complete and exact.
import { expect, test } from "vitest";
import type { Report } from "../src/acquirers/acquirer.ts";
import { SECOND, systemClock } from "../src/ground/clock.ts";
import { type Bench, type Delivered, newKey } from "./adapter-bench.ts";

export function callbackTests(bench: Bench): void {
  const read = (delivered: Delivered, now = systemClock.now()): Report => bench.read(delivered, now);
  /** The code of the error when the callback is rejected, else the report. */
  const codeOf = (delivered: Delivered, now?: number): unknown => {
    try {
      return read(delivered, now);
    } catch (error) {
      return (error as { code?: unknown }).code ?? error;
    }
  };
  const change = (delivered: Delivered, name: string, value: string | string[] | undefined): Delivered => ({
    ...delivered,
    headers: { ...delivered.headers, [name]: value },
  });
  /** The headers that sign a callback: without any of them the callback is rejected. */
  function signing(delivered: Delivered): [string, string][] {
    const headers = Object.entries(delivered.headers).filter(
      (header): header is [string, string] => typeof header[1] === "string",
    );
    return headers.filter(([name]) => codeOf(change(delivered, name, undefined)) === "SIGNATURE_MISSING");
  }

  test("tells what became of a payment, with its money, and reads the same when it comes again", async () => {
    const { request, delivered } = await bench.paid();
    const { operationKey, amountMinor, currency } = request;
    const receipt = { transactionId: `tx-${operationKey}`, amountMinor, currency };
    const told = { kind: "payment", operationKey, state: { status: "paid", receipt } };
    expect(read(delivered)).toEqual(told);
    expect(read(delivered)).toEqual(told);
  });

  test("is refused when a byte of it, its path or its signature is another", async () => {
    const { delivered } = await bench.paid();
    for (let at = 0; at < delivered.body.length; at++) {
      const body = Buffer.from(delivered.body);
      body[at] = (body[at] ?? 0) ^ 1;
      expect(codeOf({ ...delivered, body }), `byte ${at}`).toBe("SIGNATURE_INVALID");
    }
    const longer = Buffer.concat([delivered.body, Buffer.from(" ")]);
    for (const changes of [
      { body: longer },
      { body: Buffer.alloc(0) },
      { path: `${delivered.path}x` },
      { path: "/" },
    ]) {
      expect(codeOf({ ...delivered, ...changes })).toBe("SIGNATURE_INVALID");
    }
    for (const [name, value] of signing(delivered)) {
      const last = value.at(-1) === "0" ? "1" : "0";
      for (const other of [value.slice(0, -1) + last, value.slice(0, -1), `${value}0`, ` ${value}`, [value], "", "é"]) {
        const code = codeOf(change(delivered, name, other));
        expect(["SIGNATURE_INVALID", "TIMESTAMP_OUT_OF_WINDOW"], `${name}: ${String(other)}`).toContain(code);
      }
    }
  });

  test("is refused without what signs it", async () => {
    const { delivered } = await bench.paid();
    expect(signing(delivered)).not.toEqual([]);
    expect(codeOf({ ...delivered, headers: {} })).toBe("SIGNATURE_MISSING");
  });

  test("is refused when it is older or younger than five minutes", async () => {
    const { delivered } = await bench.paid();
    const now = systemClock.now();
    for (const seconds of [-86_400, -310, 310, 86_400]) {
      expect(codeOf(delivered, now + seconds * SECOND), `${seconds} s`).toBe("TIMESTAMP_OUT_OF_WINDOW");
    }
    for (const seconds of [-290, 290]) expect(codeOf(delivered, now + seconds * SECOND)).toBeTypeOf("object");
  });

  test("has amounts that are read exactly, up to the largest", () => {
    for (const amount of ["1", "99", "9007199254740991"]) {
      const callback = read(bench.outside.paidCallback(newKey(), amount));
      expect(callback).toMatchObject({ state: { receipt: { amountMinor: BigInt(amount) } } });
    }
  });

  test.for(["0", "-1", '"150000"', "1.5", "1.0", "1e3", "9007199254740992", "1e999", "true", "null", "[1]", "{}"])(
    "with the amount %s is refused",
    (amount) => {
      expect(codeOf(bench.outside.paidCallback(newKey(), amount))).toBe("VALIDATION_ERROR");
    },
  );

  test("that is signed but not JSON is refused", () => {
    expect(codeOf(bench.outside.paidCallback(newKey(), "1}"))).toBe("MALFORMED_JSON");
  });
}
