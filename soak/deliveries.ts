// Goal: each event is delivered until its receiver accepts it, and no more often, or is given up after eight attempts. Method: two services
// with workers on one database, receivers that reject, hang up or are slow a random number of times, and a sandbox clock that moves until no
// delivery is pending; then each event's attempts are compared with the script of its receiver.
import { readFileSync } from "node:fs";
import tls from "node:tls";
import fc from "fast-check";
import { expect, vi } from "vitest";
import type { Client } from "../e2e/kit/client.ts";
import { type Received, Receiver, isGenuine, makeCertificates } from "../e2e/kit/receiver.ts";
import { uuidOf } from "../gateway/src/ground/ids.ts";
import { type TestService, asOwner, cloneDatabase, paymentBody, startService } from "../gateway/test/kit.ts";

const ATTEMPTS_KEPT_MAX = 8;
/** Longer than the whole retry schedule. */
const DAY_SECONDS = 86_400;
const config = { webhookAllowHosts: new Set(["localhost"]) };
const trusted = tls.getCACertificates("default");

let receiver: Receiver;
let services: [TestService, TestService];

export async function startRig(): Promise<void> {
  const certificates = await makeCertificates();
  tls.setDefaultCACertificates([...trusted, readFileSync(certificates.caFile, "utf8")]);
  receiver = await Receiver.start(certificates);
  receiver.answer = (delivery, response) => {
    // The path says how often the receiver fails, and how: /fails/3/500/…
    const [, , fails, how] = delivery.path.split("/");
    if (attemptOf(delivery) > Number(fails)) response.writeHead(200).end("ok");
    else if (how === "hangup") response.destroy();
    else if (how === "slow") setTimeout(() => response.writeHead(503).end(), 300);
    else response.writeHead(Number(how)).end();
  };
  const database = await cloneDatabase();
  services = [await startService({ config, database }), await startService({ config, database })];
}

export async function stopRig(): Promise<void> {
  await Promise.all(services.map((service) => service.stop()));
  await receiver.close();
  tls.setDefaultCACertificates(trusted);
}

const attemptOf = ({ headers }: Received): number => Number(headers["x-svc-delivery-attempt"]);

interface Order {
  /** Index of the service that gets the request. */
  at: number;
  fails: number;
  how: string;
}
const orders = fc.array(
  fc.record<Order>({
    at: fc.nat({ max: 1 }),
    fails: fc.oneof(
      { weight: 3, arbitrary: fc.constant(0) },
      { weight: 2, arbitrary: fc.nat({ max: ATTEMPTS_KEPT_MAX }) },
    ),
    how: fc.constantFrom("500", "404", "302", "hangup", "slow"),
  }),
  { minLength: 20, maxLength: 60, size: "max" },
);

/** Plays one merchant's payments, each with its own receiver path. The seed decides their number and how the receivers answer. */
export async function deliveriesOf({ seed }: { seed: number }): Promise<void> {
  const { client, merchantId } = await services[0].merchant();
  const secret = await services[0].app.merchants.setWebhook(
    { merchantId, environment: "sandbox" },
    receiver.url("/any"),
  );
  const clients: Client[] = [client, await services[1].client(merchantId)];
  const [drawn = []] = fc.sample(orders, { seed, numRuns: 1 });
  const paths = drawn.map(({ fails, how }, number) => `/fails/${fails}/${how}/${merchantId}/${number}`);
  receiver.received.length = 0;
  await Promise.all(
    drawn.map(async ({ at }, number) => {
      const body = paymentBody({ callback_url: receiver.url(paths[number]), expires_in: DAY_SECONDS });
      const { status, text } = await (clients[at] as Client).post("/v1/payments", body);
      expect(status, text).toBe(201);
    }),
  );
  await untilNothingIsPending(client, merchantId, drawn);
  const states = await statesOf(merchantId);
  for (const [number, { fails, how }] of drawn.entries()) {
    const path = paths[number] as string;
    const [attempts, state] = fails < ATTEMPTS_KEPT_MAX ? [fails + 1, "delivered"] : [ATTEMPTS_KEPT_MAX, "undelivered"];
    const made = receiver.received.filter(
      (delivery) => delivery.path === path && delivery.event.type === "payment.created",
    );
    expect(made.map(attemptOf), path).toEqual(Array.from({ length: attempts }, (_, index) => index + 1));
    expect(new Set(made.map(({ body }) => body)).size, path).toBe(1);
    for (const delivery of made) expect(isGenuine(delivery, secret ?? ""), path).toBe(true);
    expect(states.get(made[0]?.event.id as string), `${path} ${how}`).toEqual({ state, attempts });
  }
}

/** Moves the book's clock to each next attempt, only after the attempt before is recorded, until no delivery is pending. */
async function untilNothingIsPending(client: Client, merchantId: string, drawn: readonly Order[]): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS_KEPT_MAX; attempt++) {
    const waiting = drawn.filter(({ fails }) => fails >= attempt && attempt < ATTEMPTS_KEPT_MAX).length;
    await vi.waitFor(
      async () => {
        const pending = [...(await statesOf(merchantId)).values()].filter(({ state }) => state === "pending");
        expect(pending.filter(({ attempts }) => attempts !== attempt)).toEqual([]);
        expect(pending).toHaveLength(waiting);
      },
      { timeout: 60_000, interval: 200 },
    );
    if (waiting === 0) return;
    const { status, text } = await client.post("/v1/sandbox/clock/advance", { seconds: DAY_SECONDS / 2 });
    expect(status, text).toBe(200);
  }
}

/** State and attempts of the deliveries of `payment.created` events, by event. */
async function statesOf(merchantId: string): Promise<Map<string, { state: string; attempts: number }>> {
  return asOwner(services[0].database, async (owner) => {
    const { rows } = await owner.query<{ id: string; state: string; attempts: number }>(
      `select e.body::json ->> 'id' as id, d.state, d.attempts from deliveries d join events e using (merchant_id, environment, event_id)
where d.merchant_id = $1::uuid and e.type = 'payment.created'`,
      [uuidOf(merchantId)],
    );
    return new Map(rows.map(({ id, state, attempts }) => [id, { state, attempts }]));
  });
}
