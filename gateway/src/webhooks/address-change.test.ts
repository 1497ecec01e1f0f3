// Goal: what is pending goes to the address as it is when it is tried, signed with the secret of that address. Method: a service before a TLS
// receiver, addresses that change while deliveries wait.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { type Received, isGenuine } from "../../../e2e/kit/receiver.ts";
import { rig, startRig, stopRig } from "../../test/event-rig.ts";
import { type TestService, asOwner, paymentBody } from "../../test/kit.ts";
import { uuidOf } from "../ground/ids.ts";

beforeAll(startRig);
afterAll(stopRig);

const at = (path: string): Received[] => rig.receiver.received.filter((delivery) => delivery.path === path);
const arrived = (path: string, count: number): Promise<void> =>
  vi.waitFor(() => expect(at(path)).toHaveLength(count), 30_000);
const advance = (client: Client, seconds: number) => client.post("/v1/sandbox/clock/advance", { seconds });

let shops = 0;

/** A merchant, and what registers an address of the receiver that answers with a status: gives its path and the secret. */
async function shop(service: TestService = rig.service) {
  const { client, merchantId } = await service.merchant();
  const number = ++shops;
  const register = async (status: number): Promise<{ path: string; secret: string }> => {
    const path = `/${status}/address-${number}-${++shops}`;
    const answer = await service.operate("PUT", `/merchants/${merchantId}/webhook`, {
      environment: "sandbox",
      url: rig.receiver.url(path),
    });
    return { path, secret: answer.webhook_secret as string };
  };
  const pay = (changes: Record<string, unknown> = {}) => client.post("/v1/payments", paymentBody(changes));
  return { client, merchantId, register, pay };
}

test("retries go to the new address, signed with the secret, which stays", async () => {
  const { client, register, pay } = await shop();
  const before = await register(500);
  await pay();
  await arrived(before.path, 1);
  const after = await register(200);
  expect(after.secret).toBe(before.secret);
  await advance(client, 31);
  await arrived(after.path, 1);
  const [retry] = at(after.path);
  expect([retry?.headers["x-svc-delivery-attempt"], isGenuine(retry as Received, after.secret)]).toEqual(["2", true]);
  expect(at(before.path)).toHaveLength(1);
});

test("a rotation changes the secret, also of what is pending, and the address stays", async () => {
  const { client, merchantId, register, pay } = await shop();
  const { path, secret: old } = await register(500);
  await pay();
  await arrived(path, 1);
  const rotation = { environment: "sandbox", overlap_seconds: 0 };
  const { webhook_secret: fresh } = await rig.service.operate(
    "POST",
    `/merchants/${merchantId}/webhook/rotate`,
    rotation,
  );
  await advance(client, 31);
  await arrived(path, 2);
  const [first, second] = at(path) as [Received, Received];
  expect([isGenuine(first, old), isGenuine(second, fresh as string), isGenuine(second, old)]).toEqual([
    true,
    true,
    false,
  ]);
});

test("an address change keeps both secrets of a rotation that is not over", async () => {
  const { merchantId, register, pay } = await shop();
  await register(200);
  const rotation = { environment: "sandbox", overlap_seconds: 3600 };
  const { webhook_secret: fresh } = await rig.service.operate(
    "POST",
    `/merchants/${merchantId}/webhook/rotate`,
    rotation,
  );
  const { path, secret } = await register(200);
  expect(secret).toBe(fresh);
  await pay();
  await arrived(path, 1);
  expect(String(at(path)[0]?.headers["webhook-signature"]).split(" ")).toHaveLength(2);
});

test("a payment's own callback_url stays", async () => {
  const { client, register, pay } = await shop();
  await register(200);
  const own = `/500/own-${++shops}`;
  await pay({ callback_url: rig.receiver.url(own) });
  await arrived(own, 1);
  const { path } = await register(200);
  await advance(client, 31);
  await arrived(own, 2);
  expect(at(path)).toHaveLength(0);
});

test("a delivery that a process wrote for the old address after the change is moved before it is sent", async () => {
  const { client, merchantId, register, pay } = await shop();
  const before = await register(500);
  await pay();
  await arrived(before.path, 1);
  const after = await register(200);
  await vi.waitFor(async () => {
    const moved = await asOwner(rig.service.database, (owner) =>
      owner.query("update deliveries set url = $2 where merchant_id = $1 and lease_token is null", [
        uuidOf(merchantId),
        rig.receiver.url(before.path),
      ]),
    );
    expect(moved.rowCount).toBe(1);
  }, 30_000);
  await advance(client, 31);
  await arrived(after.path, 1);
  expect(at(before.path)).toHaveLength(1);
  expect(at(after.path)[0]?.headers["x-svc-delivery-attempt"]).toBe("2");
});

test("a backlog follows at once, however long it is, and what was delivered is left alone", async () => {
  const { client, merchantId, register, pay } = await shop(rig.still);
  const before = await register(200);
  for (let count = 0; count < 5; count++) await pay();
  const kept = rig.receiver.url(`/200/kept-${++shops}`);
  await pay({ callback_url: kept });
  await asOwner(rig.still.database, (owner) =>
    owner.query(
      `update deliveries set state = 'delivered'
where merchant_id = $1 and event_id = (select min(event_id::text)::uuid from deliveries where merchant_id = $1)`,
      [uuidOf(merchantId)],
    ),
  );
  const after = await register(200);
  const { rows } = await asOwner(rig.still.database, (owner) =>
    owner.query<{ url: string; state: string; count: string }>(
      "select url, state, count(*) from deliveries where merchant_id = $1 group by url, state order by count(*), state",
      [uuidOf(merchantId)],
    ),
  );
  expect(rows.map(({ url, state, count }) => [url, state, Number(count)])).toEqual([
    [kept, "pending", 1],
    [rig.receiver.url(before.path), "delivered", 1],
    [rig.receiver.url(after.path), "pending", 4],
  ]);
  expect((await client.get("/v1/payments")).json.data).toHaveLength(6);
});
