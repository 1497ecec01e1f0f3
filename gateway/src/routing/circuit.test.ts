// Goal: an acquirer that fails is left alone for a while, tried with one call, and trusted again when that goes well. Method:
// examples of each step, then properties over random calls.
import fc from "fast-check";
import { expect, test } from "vitest";
import { SECOND } from "../ground/clock.ts";
import { simulatedAcquirers } from "../acquirers/simulated.ts";
import { Circuit, Circuits, type Permit } from "./circuit.ts";
import { defaultRules, route } from "./routing.ts";

const start = 1_700_000_000 * SECOND;
const call: Permit = { begunAt: start, probe: false };

function failing(calls: number, now = start): Circuit {
  const circuit = new Circuit();
  for (let count = 0; count < calls; count++) circuit.record(circuit.begin(now) ?? call, false, now);
  return circuit;
}

test("four failures are no verdict, five are, and five of ten are too", () => {
  expect(failing(4).state(start)).toBe("closed");
  expect(failing(5).state(start)).toBe("open");
  const mixed = new Circuit();
  for (let count = 0; count < 10; count++) mixed.record(call, count % 2 === 0, start);
  expect(mixed.state(start)).toBe("open");
  const mostlyWell = new Circuit();
  for (let count = 0; count < 50; count++) mostlyWell.record(call, count % 5 !== 0, start);
  expect(mostlyWell.state(start)).toBe("closed");
});

test.each([
  [60 * SECOND - 1, "open"],
  [60 * SECOND, "closed"],
])("four failures of %i microseconds ago and one now: %s", (ago, state) => {
  const circuit = failing(4);
  circuit.record(call, false, start + ago);
  expect(circuit.state(start + ago)).toBe(state);
});

test("the latest fifty calls count", () => {
  const circuit = new Circuit();
  for (let count = 0; count < 60; count++) circuit.record(call, count < 10 || count % 5 !== 0, start);
  expect(circuit.count(start)).toEqual({ calls: 50, failures: 10 });
});

test("calls may begin until the circuit opens, and those that fail after that make the rest no longer", () => {
  const circuit = new Circuit();
  const begun = Array.from({ length: 8 }, () => circuit.begin(start));
  expect(begun).toEqual(begun.map(() => call));
  for (const [index, permit] of begun.entries()) circuit.record(permit ?? call, false, start + index * SECOND);
  // The fifth failure, after four seconds, opened it for ten.
  expect([13, 14].map((seconds) => circuit.admits(start + seconds * SECOND))).toEqual([false, true]);
});

test("after its rest one call probes, and the others stay away", () => {
  const circuit = failing(5);
  expect(circuit.begin(start + 9 * SECOND)).toBeUndefined();
  expect(circuit.state(start + 10 * SECOND)).toBe("probing");
  const probe: Permit = { begunAt: start + 10 * SECOND, probe: true };
  expect(circuit.admits(start + 10 * SECOND)).toBe(true);
  expect([1, 2, 3].map(() => circuit.begin(start + 10 * SECOND))).toEqual([probe, undefined, undefined]);
  expect(circuit.admits(start + 10 * SECOND)).toBe(false);
  // A call from before, that ends now, is not the probe.
  circuit.record(call, true, start + 10 * SECOND);
  expect(circuit.state(start + 10 * SECOND)).toBe("probing");
  circuit.record(probe, true, start + 11 * SECOND);
  expect(circuit.state(start + 11 * SECOND)).toBe("closed");
  // The past is forgotten: one failure more opens nothing.
  circuit.record({ begunAt: start + 11 * SECOND, probe: false }, false, start + 11 * SECOND);
  expect(circuit.count(start + 11 * SECOND)).toEqual({ calls: 1, failures: 1 });
  expect(circuit.state(start + 11 * SECOND)).toBe("closed");
});

test("calls that began before the circuit closed say nothing of the acquirer as it is now", () => {
  const circuit = new Circuit();
  const lost = Array.from({ length: 20 }, () => circuit.begin(start) ?? call);
  for (const permit of lost.slice(0, 5)) circuit.record(permit, false, start + SECOND);
  circuit.record(circuit.begin(start + 11 * SECOND) ?? call, true, start + 12 * SECOND);
  for (const permit of lost.slice(5)) circuit.record(permit, false, start + 15 * SECOND);
  expect(circuit.state(start + 15 * SECOND)).toBe("closed");
});

test("a probe that fails makes the rest longer, up to a bound", () => {
  const circuit = failing(5);
  let now = start;
  const rests: number[] = [];
  for (let probe = 0; probe < 7; probe++) {
    const before = now;
    let permit = circuit.begin(now);
    for (; !permit; permit = circuit.begin(now)) now += SECOND;
    rests.push((now - before) / SECOND);
    circuit.record(permit, false, now);
  }
  expect(rests).toEqual([10, 20, 40, 80, 160, 160, 160]);
  // One that goes well makes the next rest short again.
  now += 160 * SECOND;
  circuit.record(circuit.begin(now) ?? call, true, now);
  for (let count = 0; count < 5; count++) circuit.record({ begunAt: now, probe: false }, false, now);
  expect([9, 10].map((seconds) => circuit.admits(now + seconds * SECOND))).toEqual([false, true]);
});

test("an open circuit is closed to one method of one acquirer, and the reason is kept with the payment", () => {
  const circuits = new Circuits();
  for (let count = 0; count < 5; count++) circuits.of("nusantara", "qris").record(call, false, start);
  circuits.of("nusantara", "va").record(call, false, start);
  expect(circuits.open(start)).toEqual(new Set(["nusantara/qris"]));
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
    { gatewayCode: "nusantara", method: "va", state: "closed", calls: 1, failures: 1 },
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
        const pending: Permit[] = [];
        let probes = 0;
        for (const { wait, ok, late } of calls) {
          now += wait * SECOND;
          const probing = circuit.state(now) !== "closed";
          const permit = circuit.begin(now);
          if (permit) {
            expect(permit.probe).toBe(probing);
            if (probing) expect(++probes).toBe(1);
            if (late && !probing) pending.push(permit);
            else {
              circuit.record(permit, ok, now);
              if (probing) probes = 0;
            }
          } else for (const ended of pending.splice(0)) circuit.record(ended, ok, now);
        }
        for (let tries = 0; circuit.state(now) !== "closed"; tries++) {
          expect(tries).toBeLessThan(400);
          now += SECOND;
          const permit = circuit.begin(now);
          if (permit) circuit.record(permit, true, now);
        }
      },
    ),
  );
});
