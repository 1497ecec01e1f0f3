// Goal: the exam passes who may be trusted with money, and fails who may not. Method: our simulator sits it whole; then it sits it again with
// a connector that lies in one way at a time, and each lie has to be found.
import { beforeAll, describe, expect, test } from "vitest";
import { simulatorSubject } from "../../test/simulator-subject.ts";
import { type AcquirerCalls, AcquirerRefused, type Receipt } from "../acquirers/acquirer.ts";
import { Bench, type CallableAcquirer, Failed, type Subject } from "./exam/bench.ts";
import { type Mark, examCases, examine, scorecard } from "./exam/exam.ts";

describe("our own simulator", () => {
  let marks: Mark[] = [];
  beforeAll(async () => {
    marks = await examine(simulatorSubject);
  });

  test("passes every case that says something of it", () => {
    expect(marks.filter(({ mark }) => mark === "failed")).toEqual([]);
    expect(marks).toHaveLength(examCases.length);
    expect(marks.filter(({ mark }) => mark === "passed").length).toBeGreaterThan(25);
  });

  test("has a line for each case in its scorecard", () => {
    const lines = scorecard({ simulator: marks }).split("\n");
    expect(lines).toHaveLength(examCases.length + 2);
    expect(lines[2]).toMatch(/^\| .+ \| passed \|$/);
  });
});

/** The simulator behind a connector that lies. */
async function lying(lie: (calls: AcquirerCalls) => Partial<AcquirerCalls>): Promise<Subject> {
  const subject = await simulatorSubject();
  const { calls } = subject.acquirer;
  const acquirer: CallableAcquirer = { ...subject.acquirer, calls: { ...calls, ...lie(calls) } };
  return { ...subject, acquirer };
}

const doubled = (receipt: Receipt): Receipt => ({ ...receipt, amountMinor: receipt.amountMinor * 100n });

test.each<[string, (calls: AcquirerCalls) => Partial<AcquirerCalls>, string]>([
  [
    "takes a time-out for a no",
    (calls) => ({
      open: (request, signal) =>
        calls.open(request, signal).catch((error: unknown) => {
          throw new AcquirerRefused(String(error));
        }),
    }),
    "an answer that never comes is unknown, and asking finds what was done",
  ],
  [
    "uses another key each time",
    (calls) => {
      let number = 0;
      const other = <T extends { operationKey: string }>(request: T): T => ({
        ...request,
        operationKey: `${request.operationKey.slice(0, 50)}.x${number++}`,
      });
      return { open: (request, signal) => calls.open(other(request), signal) };
    },
    "ten uses of one key at once open one payment",
  ],
  [
    "mistakes the unit",
    (calls) => ({
      async inquire(request, signal) {
        const known = await calls.inquire(request, signal);
        if (!known.known || known.state.status !== "paid") return known;
        return { ...known, state: { status: "paid", receipt: doubled(known.state.receipt) } };
      },
    }),
    "money that came is told with its exact amount, and the same each time",
  ],
  [
    "has no answer about what it does not know",
    (calls) => ({
      async inquire(request, signal) {
        const known = await calls.inquire(request, signal);
        if (!known.known) throw new Error("the key could not be voided");
        return known;
      },
    }),
    "a key that was never used is not found",
  ],
  [
    "believes whoever speaks",
    (calls) => ({
      receive(message, now) {
        try {
          return calls.receive(message, now);
        } catch {
          const { operation_key: operationKey } = JSON.parse(message.body.toString()) as { operation_key: string };
          return { kind: "reports", reports: [{ kind: "payment", operationKey, state: { status: "failed" } }] };
        }
      },
    }),
    "a notification without its proof, or with another's, is refused",
  ],
  [
    "tells a refund as done before it is",
    (calls) => ({
      refund: (request, signal) => calls.refund(request, signal).catch(() => ({ status: "succeeded" })),
    }),
    "a refund whose answer never comes is unknown, and asking finds it",
  ],
])("a connector that %s fails", async (_lie, lie, caseName) => {
  const one = examCases.find(({ name }) => name === caseName);
  const bench = new Bench();
  await bench.start(() => lying(lie));
  try {
    await expect(one?.run(bench)).rejects.toThrow(Failed);
  } finally {
    await bench.close();
  }
});

test.each([
  ["fails at a fake", true],
  ["is no fault at a provider's own sandbox, whose codes may be placeholders that nobody pays", false],
])("a QR code that is no QRIS %s", async (_what, isFake) => {
  const [one] = examCases;
  const bench = new Bench();
  await bench.start(async () => {
    const { control, ...subject } = await lying((calls) => ({
      open: async (request, signal) => {
        const { instructions, ...opened } = await calls.open(request, signal);
        const isQr = instructions.type === "qr_string";
        return { ...opened, instructions: isQr ? { ...instructions, value: "some-random-qr-string" } : instructions };
      },
    }));
    return isFake && control ? { ...subject, control } : subject;
  });
  try {
    const sat = expect(one?.run(bench));
    await (isFake ? sat.rejects.toThrow("the QR code is no QRIS") : sat.resolves.toBeUndefined());
  } finally {
    await bench.close();
  }
});
