// Goal: a clock that was set ahead is believed once the new time has stood for ten minutes, and any other clock at once. Method: a clock and
// an uptime that the test moves.
import { expect, test } from "vitest";
import { NOW } from "../../test/given.ts";
import { SECOND } from "./clock.ts";
import { ClockSteps } from "./clock-steps.ts";

function steps(): { steps: ClockSteps; pass: (seconds: number) => void; set: (ahead: number) => void } {
  let running = 0;
  let ahead = 0;
  return {
    steps: new ClockSteps({ now: () => NOW + running + ahead }, { now: () => running }),
    pass: (seconds) => void (running += seconds * SECOND),
    set: (seconds) => void (ahead = seconds * SECOND),
  };
}

test.each<[seconds: number, inDoubt: boolean]>([
  [5, false],
  [6, true],
  [3_600, true],
  [8 * 86_400, true],
  [-6, false],
  [-3_600, false],
])("set by %i seconds, the clock is in doubt: %s", (seconds, inDoubt) => {
  const { steps: clock, pass, set } = steps();
  expect(clock.inDoubt()).toBe(false);
  pass(1);
  set(seconds);
  expect(clock.inDoubt()).toBe(inDoubt);
});

test("an hour ahead is believed after ten minutes, and is what the next step is measured from", () => {
  const { steps: clock, pass, set } = steps();
  clock.inDoubt();
  set(3_600);
  expect(clock.inDoubt()).toBe(true);
  pass(599);
  expect(clock.inDoubt()).toBe(true);
  pass(1);
  expect(clock.inDoubt()).toBe(false);
  set(7_200);
  expect(clock.inDoubt()).toBe(true);
});

test.each([3 * 86_400, 1_800])(
  "set anew to %i seconds ahead while it is in doubt, it is doubted for ten minutes from then",
  (seconds) => {
    const { steps: clock, pass, set } = steps();
    clock.inDoubt();
    set(3_600);
    expect(clock.inDoubt()).toBe(true);
    pass(590);
    set(seconds);
    expect(clock.inDoubt()).toBe(true);
    pass(599);
    expect(clock.inDoubt()).toBe(true);
    pass(1);
    expect(clock.inDoubt()).toBe(false);
  },
);

test("a clock that is set right again is believed at once, and doubted anew for ten minutes when it goes wrong again", () => {
  const { steps: clock, pass, set } = steps();
  clock.inDoubt();
  set(3_600);
  expect(clock.inDoubt()).toBe(true);
  pass(590);
  set(0);
  expect(clock.inDoubt()).toBe(false);
  set(3_600);
  expect(clock.inDoubt()).toBe(true);
  pass(590);
  expect(clock.inDoubt()).toBe(true);
});

test("a clock that runs a little fast is never in doubt, however far it gets", () => {
  const { steps: clock, pass, set } = steps();
  for (let second = 0; second < 100; second++) {
    pass(1);
    set(second * 4);
    expect(clock.inDoubt()).toBe(false);
  }
});

test("without a clock and an uptime of the test, the machine's own are no step apart", () => {
  const clock = new ClockSteps({ now: () => Date.now() * 1_000 });
  expect([clock.inDoubt(), clock.inDoubt()]).toEqual([false, false]);
});
