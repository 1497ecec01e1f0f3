// The remote adapter with the simulated acquirer over real sockets, for the adapter suite and the adapter's own tests.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { remoteAcquirer } from "../src/acquirers/remote.ts";
import type { RemoteProfile } from "../src/acquirers/remote-profile.ts";
import { signedHeaders } from "../src/acquirers/remote-protocol.ts";
import { systemClock, wireTime } from "../src/ground/clock.ts";
import { SigningKey } from "../src/ground/signing-key.ts";
import type { BehaviourChange } from "../src/cli/simulator/controls.ts";
import { type Simulator, startSimulator } from "../src/cli/simulator/simulator.ts";
import type { AdapterRig, Delivered, Temper } from "./adapter-bench.ts";

export const SECRET = "a secret of the tests, and long enough";

export function profile(url: string, changes: Partial<RemoteProfile> = {}): RemoteProfile {
  const takes = (method: "qris" | "va" | "ewallet" | "bank_transfer") => ({
    method,
    currencies: ["IDR"],
    minimum_minor: 1,
    maximum_minor: 999_999_999_999,
    cost: { basis_points: 35, flat_minor: 0 },
  });
  return {
    code: "rimba",
    name: "Rimba Pay",
    environment: "sandbox",
    url,
    secret: SECRET,
    deadline_ms: 5_000,
    cancels: true,
    capabilities: [takes("qris"), takes("va"), takes("ewallet"), takes("bank_transfer")],
    ...changes,
  };
}

/** Receives callbacks and keeps them unchanged. */
export class Mailbox {
  readonly all: Delivered[] = [];
  /** Statuses to answer the next callbacks with; 200 after the last. */
  answers: number[] = [];
  private readonly server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      this.all.push({ path: request.url ?? "", headers: request.headers, body: Buffer.concat(parts) });
      response.writeHead(this.answers.shift() ?? 200).end();
    });
  });
  private readonly taken = new Set<Delivered>();

  async start(): Promise<void> {
    this.server.listen(0, "127.0.0.1");
    await once(this.server, "listening");
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/acquirers/rimba/callbacks?from=rimba`;
  }

  /** Waits for the next callback about this operation that was not taken before. */
  async take(operationKey: string, timeoutMs = 5_000): Promise<Delivered> {
    for (const end = performance.now() + timeoutMs; performance.now() < end;) {
      const found = this.all.find((each) => !this.taken.has(each) && each.body.includes(`"${operationKey}"`));
      if (found) {
        this.taken.add(found);
        return found;
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`no callback about ${operationKey} among ${this.all.length}`);
  }

  close(): Promise<unknown> {
    this.server.closeAllConnections();
    this.server.close();
    return once(this.server, "close");
  }
}

const behaviours: Record<Temper, BehaviourChange> = {
  refuses: { mode: "refuse", for_next: 1 },
  silent: { mode: "timeout", for_next: 1 },
  deaf: { mode: "timeout_before", for_next: 1 },
  broken: { mode: "error", for_next: 1 },
  garbage: { mode: "garbage", for_next: 1 },
  cut: { mode: "reset", for_next: 1 },
};

export async function remoteRig(): Promise<AdapterRig & { simulator: Simulator; mailbox: Mailbox }> {
  const mailbox = new Mailbox();
  await mailbox.start();
  const simulator = await startSimulator({ port: 0, host: "127.0.0.1", secret: SECRET });
  simulator.behave({ refunds: "held" });
  const acquirer = remoteAcquirer(profile(simulator.url));
  const key = new SigningKey(SECRET);
  return {
    acquirer,
    simulator,
    mailbox,
    callbackUrl: mailbox.url,
    temper(temper) {
      simulator.behave(behaviours[temper]);
      return {};
    },
    async close() {
      await acquirer.close();
      await simulator.stop();
      await mailbox.close();
    },
    outside: {
      elsewhere: (url) => remoteAcquirer(profile(url)),
      opened(operationKey) {
        const states = simulator.operations(1000).filter((each) => each.operation_key === operationKey);
        return Promise.resolve(states.filter(({ status }) => status !== "void" && status !== "refused").length);
      },
      pay: (operationKey, status, transactionId) =>
        simulator.pay(operationKey, { status, transaction_id: transactionId, callbacks: status === "paid" ? 1 : 0 }),
      conclude: (operationKey, status) => simulator.conclude(operationKey, { status }),
      callback: (operationKey) => mailbox.take(operationKey),
      paidCallback(operationKey, amount) {
        const { pathname, search } = new URL(mailbox.url);
        const path = pathname + search;
        const transaction = `{"transaction_id":"tx-1","amount_minor":${amount},"currency":"IDR"}`;
        const occurred = `"occurred_at":"${wireTime(systemClock.now())}"`;
        const body = `{"callback_id":"cb-1","kind":"payment","operation_key":"${operationKey}","status":"paid","transaction":${transaction},${occurred}}`;
        return { path, headers: signedHeaders(key, systemClock.now(), "POST", path, body), body: Buffer.from(body) };
      },
    },
  };
}
