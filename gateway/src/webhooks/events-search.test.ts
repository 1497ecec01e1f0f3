// Goal: a list of events by type costs no more than ten thousand rows a page, however many events a merchant has, and leaves none out.
// Method: one event of the type behind more others than one page examines.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestService, asOwner, startService } from "../../test/kit.ts";
import { uuidOf } from "../ground/ids.ts";
import { LOOKED_AT_MAX } from "../store/searches.sql.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

test("a list by type goes on from where it stopped, until it has looked at all events", async () => {
  const { client, merchantId } = await service.merchant();
  await asOwner(service.database, async (owner) => {
    await owner.query("set session_replication_role = replica"); // no triggers
    await owner.query(
      `insert into events (merchant_id, environment, event_id, type, created_at, body)
select $1::uuid, 'sandbox', rpad(lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0'), 32, '0')::uuid, type, at, json_build_object('type', type)
from generate_series(0, ${LOOKED_AT_MAX + 500}) n
cross join lateral (
  select now() + n * interval '1 second' as at, case n when 0 then 'dispute.opened' else 'payment.created' end as type
) e`,
      [uuidOf(merchantId)],
    );
  });
  const first = await client.get("/v1/events?type=dispute.opened");
  expect(first.json).toMatchObject({ data: [], has_more: true });
  const second = await client.get(`/v1/events?type=dispute.opened&starting_after=${first.json.next_cursor}`);
  expect(second.json).toMatchObject({ data: [{ type: "dispute.opened" }], has_more: false, next_cursor: null });
  const inTime = await client.get(
    `/v1/events?type=dispute.opened&created_to=${new Date().toISOString().slice(0, 19)}Z`,
  );
  expect(inTime.json).toMatchObject({ data: [{ type: "dispute.opened" }], has_more: false });
});
