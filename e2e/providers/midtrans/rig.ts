// A test rig with the Midtrans connector and its fake: orders as the core sends them, and the notifications about them.
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OpenRequest } from "../../../gateway/src/acquirers/acquirer.ts";
import { type Micros, SECOND, systemClock } from "../../../gateway/src/ground/clock.ts";
import { midtransAcquirer } from "../../../gateway/src/providers/midtrans/midtrans.ts";
import { midtransSchema } from "../../../gateway/src/providers/midtrans/profile.ts";
import { silenceOf } from "../fake.ts";
import { midtransFake } from "./fake.ts";

export const SERVER_KEY = "SB-Mid-server-for-tests";
const limits = { minimum_minor: 100, maximum_minor: 1_000_000_000, cost: { basis_points: 70, flat_minor: 0 } };

/** The connector's entry in acquirers.json, without the key. */
export const entry = {
  provider: "midtrans",
  code: "midtrans",
  name: "Midtrans",
  environment: "sandbox",
  methods: [
    { method: "qris", channels: ["gopay", "shopeepay"], ...limits },
    { method: "va", channels: ["bca", "bni", "bri", "permata", "cimb", "mandiri"], ...limits },
    { method: "ewallet", channels: ["gopay", "shopeepay"], ...limits },
    { method: "card", ...limits },
  ],
};

export const { signal } = new AbortController();

/** Starts the connector, the fake and a receiver of notifications, on free ports. */
export async function startRig() {
  const folder = mkdtempSync(join(tmpdir(), "gerbang-midtrans-"));
  const keyFile = (name: string, text: string): { file: string } => {
    writeFileSync(join(folder, name), text);
    return { file: join(folder, name) };
  };
  /** The bodies of the fake's notifications, the oldest first. */
  const notified: Buffer[] = [];
  const receiver = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      notified.push(Buffer.concat(parts));
      response.end("{}");
    });
  });
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const callbackUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/acquirers/midtrans/callbacks`;
  const fake = await midtransFake({ serverKey: SERVER_KEY });
  let offset: Micros = 0;
  const clock = { now: () => systemClock.now() + offset };
  const connector = (change: object = {}): ReturnType<typeof midtransAcquirer> => {
    const profile = { ...entry, url: fake.url, server_key: keyFile("server-key", `${SERVER_KEY}\n`), ...change };
    return midtransAcquirer(midtransSchema.parse(profile), clock);
  };
  const patient = connector();
  const { calls } = patient;
  let count = 0;

  const rig = {
    fake,
    control: fake.control,
    notified,
    calls,
    /** The same calls, for answers that never come: they end without waiting for the deadline. */
    hasty: silenceOf(fake.url).endsCallsOf(patient).calls,
    connector,
    keyFile,
    callbackUrl,

    /** A number that was not given before. */
    next: (): number => ++count,

    /** An order as the core sends it, with an unused operation key. */
    ordered: (change: Partial<OpenRequest> = {}): OpenRequest => ({
      reference: "pay_01ksz3v0fm8m2k2ry6e5q4t7ag",
      operationKey: `test.${++count}.s1`,
      method: "qris",
      amountMinor: 15_000_000n,
      currency: "IDR",
      merchantName: "Toko Rani",
      expiresAt: systemClock.now() + 900 * SECOND,
      payUrl: "https://pay.example/p/1",
      returnUrl: undefined,
      metadata: undefined,
      callbackUrl,
      round: 0,
      isOver: false,
      providerIds: undefined,
      ...change,
    }),

    open: (request: OpenRequest) => calls.open(request, signal),
    ask: (request: OpenRequest) => calls.inquire(request, signal),

    /** Opens a payment, and gives the request with the provider's ids, as the core sends it from then on. */
    async opened(change: Partial<OpenRequest> = {}): Promise<OpenRequest> {
      const request = rig.ordered(change);
      const { providerIds } = await rig.open(request);
      return { ...request, providerIds };
    },

    async state(request: OpenRequest): Promise<string> {
      const known = await rig.ask(request);
      return known.known ? known.state.status : "not there";
    },

    /** The connector's reading of the notifications that came during `work`. */
    async heardDuring(work: () => Promise<void>) {
      notified.length = 0;
      await work();
      return notified.map((body) => calls.receive({ method: "POST", target: "", rest: "", headers: {}, body }, 0));
    },

    /** Runs `work` with the clock moved forward by `by`. */
    async later(by: Micros, work: () => Promise<void>): Promise<void> {
      offset = by;
      try {
        await work();
      } finally {
        offset = 0;
      }
    },

    async close(): Promise<void> {
      await patient.close();
      await fake.close();
      receiver.close();
      rmSync(folder, { recursive: true });
    },
  };
  return rig;
}

export type Rig = Awaited<ReturnType<typeof startRig>>;
