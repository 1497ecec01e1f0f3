// The simulated acquirer as a subject of the provider exam, by the project's own acquirer protocol.
import { remoteAcquirer } from "../src/acquirers/remote.ts";
import type { Mode } from "../src/cli/simulator/controls.ts";
import { startSimulator } from "../src/cli/simulator/simulator.ts";
import { NotApplicable, type Subject } from "../src/providers/exam/bench.ts";
import type { FaultName } from "../src/providers/exam/control.ts";
import { SECRET, profile } from "./remote-rig.ts";
import { Silence } from "./silence.ts";

/** The simulator's modes for the faults that it supports. */
const modes: Partial<Record<FaultName, Mode>> = {
  "silent after effect": "timeout",
  "silent before effect": "timeout_before",
  "half answer": "reset",
  unavailable: "error",
  refuse: "refuse",
};

export async function simulatorSubject(): Promise<Subject> {
  const silence = new Silence();
  const log = (line: string): void => {
    if (/ \(timeout/.test(line)) silence.begin();
  };
  const simulator = await startSimulator({ port: 0, host: "127.0.0.1", secret: SECRET, log });
  simulator.behave({ refunds: "held" });
  const acquirer = remoteAcquirer(profile(simulator.url, { deadline_ms: 30_000 }));
  const count = (key: string): number =>
    simulator
      .operations(1_000)
      .filter(({ operation_key, status }) => operation_key === key && status !== "void" && status !== "refused").length;
  return {
    acquirer: silence.endsCallsOf(acquirer),
    control: {
      async pay(key, { amountMinor, currency, times = 1, notify = true, order = "normal" } = {}) {
        if (order === "reversed") throw new NotApplicable("it notifies in the order in which things happen");
        await simulator.pay(key, {
          ...(amountMinor === undefined ? {} : { amount_minor: amountMinor }),
          ...(currency === undefined ? {} : { currency }),
          callbacks: notify ? times : 0,
        });
      },
      fail: (key) => simulator.pay(key, { status: "failed" }),
      expire: () => Promise.reject(new NotApplicable("it keeps payments open until they are decided")),
      decideRefund: (key, status) => simulator.conclude(key, { status }),
      fault(name, times = 1) {
        const mode = modes[name];
        if (mode === undefined) throw new NotApplicable(`it never answers so: ${name}`);
        simulator.behave({ mode, for_next: times });
      },
      opened: count,
      refunded: count,
    },
    async close() {
      await acquirer.close();
      await simulator.stop();
    },
  };
}
