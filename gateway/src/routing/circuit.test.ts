// Goal: an acquirer that fails is left alone for a while, tried with one call, and trusted again when that goes well. Method:
// examples of each step, then properties over random calls.
import fc from "fast-check";
import { expect, test } from "vitest";
import { SECOND } from "../ground/clock.ts";
import { simulatedAcquirers } from "../acquirers/simulated.ts";
import { Circuit, Circuits } from "./circuit.ts";
import { defaultRules, route } from "./routing.ts";

const start = 1_700_000_000 * SECOND;

function failing(calls: number, now = start): Circuit {
  const circuit = new Circuit();
  for (let call = 0; call < calls; call++) {
    circuit.begin(now);
    circuit.record(false, now);
  }
  return circuit;
}

test("four failures are no verdict, five are, and five of ten are too", () => {
  expect(failing(4).state(start)).toBe("closed");
  expect(failing(5).state(start)).toBe("open");
  const mixed = new Circuit();
  for (let call = 0; call < 10; call++) mixed.record(call % 2 === 0, start);
  expect(mixed.state(start)).toBe("open");
  const mostlyWell = new Circuit();
  for (let call = 0; call < 50; call++) mostlyWell.record(call % 5 !== 0, start);
  expect(mostlyWell.state(start)).toBe("closed");
});

test("failures of more than a minute ago do not count", () => {
  const circuit = failing(4);
  circuit.record(false, start + 61 * SECOND);
  expect(circuit.state(start + 61 * SECOND)).toBe("closed");
});

test("after its rest one call probes, and the others stay away", () => {
  const circuit = failing(5);
  expect(circuit.begin(start + 9 * SECOND)).toBe(false);
  expect(circuit.state(start + 10 * SECOND)).toBe("probing");
  expect([1, 2, 3].map(() => circuit.begin(start + 10 * SECOND))).toEqual([true, false, false]);
  circuit.record(true, start + 11 * SECOND);
  expect(circuit.state(start + 11 * SECOND)).toBe("closed");
  // The past is forgotten: one failure more opens nothing.
  circuit.record(false, start + 11 * SECOND);
  expect(circuit.state(start + 11 * SECOND)).toBe("closed");
});

test("a probe that fails makes the rest longer, up to a bound", () => {
  const circuit = failing(5);
  let now = start;
  const rests: number[] = [];
  for (let probe = 0; probe < 7; probe++) {
    const before = now;
    while (!circuit.begin(now)) now += SECOND;
    rests.push((now - before) / SECOND);
    circuit.record(false, now);
  }
  expect(rests).toEqual([10, 20, 40, 80, 160, 160, 160]);
});

test("an open circuit is closed to one method of one acquirer, and the reason is kept with the payment", () => {
  const circuits = new Circuits();
  for (let call = 0; call < 5; call++) circuits.record("nusantara", "qris", false, start);
  const table = {
    version: 1,
    rules: defaultRules,
    acquirers: simulatedAcquirers,
    states: new Map(),
    open: circuits.open(start),
  };
  const request = { environment: "sandbox", currency: "IDR", amountMinor: 1n, draw: "pay_1" } as const;
  const { chosen, decision } = route(table, { ...request, method: "qris" });
  expect(chosen?.code).toBe("cendana");
  expect(decision.candidates[0]).toMatchObject({ gateway_code: "nusantara", verdict: "circuit_open" });
  expect(route(table, { ...request, method: "va" }).chosen?.code).not.toBe("cendana");
  expect(circuits.report(start)).toEqual([
    { gatewayCode: "nusantara", method: "qris", state: "open", calls: 5, failures: 5 },
  ]);
  expect(route(table, { ...request, method: "qris", refusedBy: ["cendana"] }).chosen).toBeUndefined();
});

test("whatever happens: at most one probe at a time, and calls that go well always bring it back", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ wait: fc.integer({ min: 0, max: 30 }), ok: fc.boolean(), late: fc.boolean() }), {
        maxLength: 80,
      }),
      (calls) => {
        const circuit = new Circuit();
        let now = start;
        const pending: boolean[] = [];
        let probes = 0;
        for (const { wait, ok, late } of calls) {
          now += wait * SECOND;
          const probing = circuit.state(now) !== "closed";
          if (circuit.begin(now)) {
            if (probing) expect(++probes).toBe(1);
            if (late && !probing) pending.push(ok);
            else {
              circuit.record(ok, now);
              if (probing) probes = 0;
            }
          }
        }
        for (let tries = 0; circuit.state(now) !== "closed"; tries++) {
          expect(tries).toBeLessThan(400);
          now += SECOND;
          if (circuit.begin(now)) circuit.record(true, now);
        }
      },
    ),
  );
});
