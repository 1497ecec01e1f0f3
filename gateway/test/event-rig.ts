// Shared by tests of events: a TLS receiver, a service that delivers to it, one that does not, and calls of a merchant.
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import tls from "node:tls";
import { expect, vi } from "vitest";
import type { Answer, Client } from "../../e2e/kit/client.ts";
import { type Received, Receiver, makeCertificates } from "../../e2e/kit/receiver.ts";
import { SECOND } from "../src/ground/clock.ts";
import { newId, uuidOf } from "../src/ground/ids.ts";
import { errorSchema } from "../src/http/shapes.ts";
import type { Environment } from "../src/merchants/books.ts";
import { examplePaymentEventData } from "../src/payments/payments.examples.ts";
import { attemptListSchema, eventListSchema, eventSchema, resentSchema } from "../src/webhooks/events.schema.ts";
import { type TestService, asOwner, paymentBody, startService } from "./kit.ts";

/** Pauses of the deliverer, short enough for tests to wait for them. */
export const timing = { pollMs: 50, parkMs: 100, faultRefreshMs: 50, rotationMs: 50 };
/** Three polls of the deliverer: after them every delivery that was due has been attempted, even on a busy machine. */
export const A_POLL_MS = 3 * timing.pollMs;
export const config = { webhookAllowHosts: new Set(["localhost"]) };
const trusted = tls.getCACertificates("default");

/** The parts that `startRig` made. */
export const rig = {} as {
  receiver: Receiver;
  service: TestService;
  /** A service without a worker: due deliveries stay due. */
  still: TestService;
};

/** Handlers of paths that do not answer with the status in their first segment. */
export const answers = new Map<string, (delivery: Received, response: ServerResponse) => void>();

export async function startRig(): Promise<void> {
  const certificates = await makeCertificates();
  tls.setDefaultCACertificates([...trusted, readFileSync(certificates.caFile, "utf8")]);
  const receiver = await Receiver.start(certificates);
  receiver.answer = (delivery, response) => {
    const own = answers.get(delivery.path);
    if (own) return own(delivery, response);
    const status = Number(delivery.path.split("/")[1]);
    response.writeHead(status, { "x-shop": "kopi" }).end(`answer ${status}`);
  };
  const [service, still] = await Promise.all([
    startService({ config, timing }),
    startService({ config, timing, roles: ["api"] }),
  ]);
  Object.assign(rig, { receiver, service, still });
}

export async function stopRig(): Promise<void> {
  await Promise.all([rig.service.stop(), rig.still.stop()]);
  await rig.receiver.close();
  answers.clear();
  tls.setDefaultCACertificates(trusted);
}

export interface Shop {
  at: TestService;
  client: Client;
  merchantId: string;
  secret: string;
}

/** Makes a merchant, and registers an address when a path is given. */
export async function shop(at: TestService, path?: string): Promise<Shop> {
  const { client, merchantId, webhookSecret } = await at.merchant();
  const made = { at, client, merchantId, secret: webhookSecret };
  return path === undefined ? made : { ...made, secret: await register(made, path) };
}

export async function register({ at, merchantId }: Shop, path: string): Promise<string> {
  const secret = await at.app.merchants.setWebhook({ merchantId, environment: "sandbox" }, rig.receiver.url(path));
  return secret ?? "";
}

export async function create(client: Client, changes: Record<string, unknown> = {}): Promise<string> {
  const { status, json, text } = await client.post("/v1/payments", paymentBody({ expires_in: 86_400, ...changes }));
  expect(status, text).toBe(201);
  return json.reference as string;
}

export async function post(client: Client, path: string, body: unknown = {}, key?: string): Promise<Answer> {
  const answer = await client.post(path, body, key === undefined ? {} : { key });
  expect(answer.status, answer.text).toBe(200);
  return answer;
}

export const resend = async ({ client }: Shop, id: string, key?: string): Promise<Answer["json"]> =>
  eventSchema.parse((await post(client, `/v1/events/${id}/resend`, {}, key)).json);
export const resendMany = async ({ client }: Shop, body: unknown): Promise<Answer["json"]> =>
  resentSchema.parse((await post(client, "/v1/events/resend", body)).json);
export const advance = (client: Client, seconds: number): Promise<Answer> =>
  post(client, "/v1/sandbox/clock/advance", { seconds });
export const simulate = (client: Client, reference: string): Promise<Answer> =>
  post(client, `/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });

export async function list({ client }: Shop, query = ""): Promise<Answer["json"]> {
  const answer = await client.get(`/v1/events${query}`);
  expect(answer.status, answer.text).toBe(200);
  return eventListSchema.parse(answer.json);
}

export const events = async (of: Shop, query = ""): Promise<Answer["json"][]> => (await list(of, query)).data;
export const ids = async (of: Shop, query = ""): Promise<string[]> =>
  (await events(of, query)).map(({ id }) => id as string);
export const read = async ({ client }: Shop, id: string): Promise<Answer["json"]> =>
  eventSchema.parse((await client.get(`/v1/events/${id}`)).json);

export async function attempts({ client }: Shop, id: string, query = ""): Promise<Answer["json"]> {
  const answer = await client.get(`/v1/events/${id}/deliveries${query}`);
  expect(answer.status, answer.text).toBe(200);
  return attemptListSchema.parse(answer.json);
}

/** Waits until the event's delivery has this state and this number of attempts. */
export async function awaitAttempts(of: Shop, id: string, state: string, tries: number): Promise<Answer["json"]> {
  return vi.waitFor(async () => {
    const event = await read(of, id);
    expect(event.delivery).toMatchObject({ state, attempts: tries });
    return event;
  }, 30_000);
}

export const at = (path: string): Received[] => rig.receiver.received.filter((delivery) => delivery.path === path);
export const attemptOf = (delivery: Received): number => Number(delivery.headers["x-svc-delivery-attempt"]);
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
export const outcome = (answer: Answer): string => {
  if (answer.status < 300) return String(answer.status);
  const { code, details } = errorSchema.parse(answer.json).error;
  const field = typeof details?.field === "string" ? ` ${details.field}` : "";
  return `${answer.status} ${code}${field}`;
};

/** Changes an event's deliveries directly in the table, in ways that no endpoint offers. */
export async function set(of: Shop, id: string, change: string): Promise<void> {
  await asOwner(of.at.database, (owner) =>
    owner.query(`update deliveries set ${change} where event_id = $1::uuid`, [uuidOf(id)]),
  );
}

interface DeliveryRow {
  url: string;
  state: string;
  resend_of: string | null;
  attempts: number;
  due: boolean;
  /** True when the delivery is parked or a worker has it. */
  leased: boolean;
}

export async function deliveryOf(of: Shop, id: string): Promise<DeliveryRow | undefined> {
  const { rows } = await asOwner(of.at.database, (owner) =>
    owner.query<DeliveryRow>(
      `select d.url, d.state, d.resend_of, d.attempts, d.leased_until is not null as leased,
  d.next_attempt_at <= now() + make_interval(secs => b.clock_offset_seconds) as due
from deliveries d
join books b using (merchant_id, environment)
where d.event_id = $1::uuid`,
      [uuidOf(id)],
    ),
  );
  return rows[0];
}

/** Writes events of a merchant directly into the table, for either environment: production has no acquirer in these tests. */
export async function written(of: Shop, count: number, environment: Environment, delivery?: string): Promise<string[]> {
  const created = 1_750_000_000 * SECOND;
  const made = Array.from({ length: count }, (_, number) => newId("event", created + number));
  await asOwner(of.at.database, async (owner) => {
    const keys = [uuidOf(of.merchantId), environment, made.map(uuidOf)];
    await owner.query(
      `insert into events (merchant_id, environment, event_id, type, created_at, body)
select $1::uuid, $2::environment, event_id, 'payment.created', to_timestamp(1750000000),
  '{"id":"' || id || '","type":"payment.created","created_at":"2025-06-15T15:06:40Z","environment":"' || $2 || '","api_version":"v1","data":' || $5 || '}'
from unnest($3::uuid[], $4::text[]) as v(event_id, id)`,
      [...keys, made, JSON.stringify(examplePaymentEventData)],
    );
    if (delivery === undefined) return;
    await owner.query(
      `insert into deliveries (merchant_id, environment, event_id, url, state, attempts, next_attempt_at)
select $1::uuid, $2::environment, event_id, 'https://localhost:1/', $4::delivery_state, 8, to_timestamp(1750000000)
from unnest($3::uuid[]) as v(event_id)`,
      [...keys, delivery],
    );
  });
  return made;
}
