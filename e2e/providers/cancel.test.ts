// Goal: what a merchant cancels takes no money at its provider any more, or the money that still comes is kept apart and lost to nobody.
// Method: a whole service with the fakes of all providers, an order by each method of each, cancelled, and a payer who pays all the same.
import { afterAll, beforeAll, expect, test } from "vitest";
import { Client, operate } from "../kit/client.ts";
import { gerbang } from "../kit/service.ts";
import { type Cancelled, Tour, type Way, endsBefore, ways } from "./tour.ts";

/** The first bank or wallet of each method of each provider, and all banks of DOKU: their numbers come from different places. */
const visited = ways.filter(
  (way) =>
    ways.find(({ code, method }) => code === way.code && method === way.method) === way ||
    (way.code === "doku" && way.method === "va"),
);
const cancelled: Cancelled[] = [];

let tour: Tour;
let client: Client;
beforeAll(async () => {
  tour = await Tour.start();
  client = new Client(tour.service.demo);
});
afterAll(() => tour.stop());

const stands = ({ code, method, channel }: Way, status: string, isCalled: boolean, late: string): string =>
  [code, method, channel ?? "", status, isCalled ? "called" : "not called", `late money is ${late}`].join(" ");

test.each([...new Set(visited.map(({ code }) => code))])("what is cancelled is ended at %s", async (code) => {
  const [first, ...others] = visited.filter((way) => way.code === code);
  if (!first) throw new Error("no ways");
  // The first one turns the routing to this provider.
  const ended = [
    await tour.cancel(client, first),
    ...(await Promise.all(others.map((way) => tour.cancel(client, way)))),
  ];
  cancelled.push(...ended);
  expect(ended.map((one) => stands(one, one.status, one.isCalled, one.late))).toEqual(
    [first, ...others].map((way) => {
      const ends = endsBefore(way);
      return stands(way, "canceled", ends === "at the provider", ends === "never" ? "taken" : "refused");
    }),
  );
});

test("the merchant sees each of them cancelled, and hears of it once", async () => {
  const { json } = await client.get("/v1/events?type=payment.canceled&limit=100");
  const told = (json.data as { data: { reference: string } }[]).map(({ data }) => data.reference);
  expect(told.sort()).toEqual(cancelled.map(({ reference }) => reference).sort());
  const statuses = await Promise.all(cancelled.map(({ reference }) => client.get(`/v1/payments/${reference}`)));
  expect(new Set(statuses.map((answer) => (answer.json as { status: string }).status))).toEqual(new Set(["canceled"]));
  expect(cancelled).toHaveLength(visited.length);
});

test("money that came late is kept apart, all of it and once, and the books replay", async () => {
  const late = cancelled.filter((one) => one.late === "taken").map(({ reference }) => reference);
  const kept = async (): Promise<string[]> => {
    const { data } = (await operate(tour.service.demo, "GET", "/receipts?limit=100")) as {
      data: { payment_reference: string; status: string }[];
    };
    return data.map(({ payment_reference, status }) => `${payment_reference} ${status}`).sort();
  };
  await expect.poll(kept).toEqual(late.map((reference) => `${reference} unapplied`).sort());
  const { code } = await gerbang(["verify"], { GERBANG_DATA: tour.service.dataDirectory });
  expect(code).toBe(0);
});
