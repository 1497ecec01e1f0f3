// Goal: an order goes through each method of each provider, and each bank and wallet of it, from the shop's request to the refund, and the
// books are right. Method: a whole service with an acquirers.json of all, their fakes, real sockets in both directions.
import { afterAll, beforeAll, expect, test } from "vitest";
import { Client } from "../kit/client.ts";
import type { FaultName } from "./fake.ts";
import { gerbang } from "../kit/service.ts";
import { Tour, type Travelled, type Way, givesBack, ways } from "./tour.ts";

const refundOf = (way: Way): string =>
  givesBack(way) === "nothing" ? "not by this way" : `${givesBack(way)} succeeded`;

/** The first order of each provider. */
const orders = new Map<string, Travelled>();
let tour: Tour;
beforeAll(async () => {
  tour = await Tour.start();
});
afterAll(() => tour.stop());

test.each([...new Set(ways.map(({ code }) => code))])(
  "%s takes an order by each of its methods, banks and wallets, and gives back what it can",
  async (code) => {
    const client = new Client(tour.service.demo);
    const [first, ...others] = ways.filter((way) => way.code === code);
    if (!first) throw new Error("no ways");
    // The first one turns the routing to this provider.
    const travelled = [
      await tour.travel(client, first),
      ...(await Promise.all(others.map((way) => tour.travel(client, way)))),
    ];
    orders.set(code, travelled[0] ?? expect.unreachable());
    expect(travelled.map(({ method, channel, status, refund }) => [method, channel, status, refund])).toEqual(
      travelled.map((way) => [way.method, way.channel, "succeeded", refundOf(way)]),
    );
  },
);

test.each(["midtrans", "xendit", "stripe"])(
  "what somebody gives back in %s's dashboard reaches an operator, and moves nothing here",
  async (code) => {
    const order = orders.get(code) ?? expect.unreachable();
    const client = new Client(tour.service.demo);
    const told = { kinds: ["refund_elsewhere"], status: "partially_refunded" };
    expect(await tour.refundElsewhere(client, order)).toEqual(told);
    // Also a further one, when the first has been dealt with.
    expect(await tour.refundElsewhere(client, order)).toEqual(told);
  },
);

test.each<[Way["code"], RegExp]>([
  ["midtrans", /another amount: \d+\.00/],
  ["xendit", /request_amount is another one/],
])("what %s says was paid in another amount reaches an operator once, and books nothing", async (code, said) => {
  const { told, messages } = await tour.payOtherwise(new Client(tour.service.demo), code);
  expect(told).toEqual([
    [["other_money"], "pending"],
    [["other_money"], "succeeded"],
  ]);
  expect(messages).toMatch(said);
});

// Three at one provider: then it is left alone for a while.
test.each<[FaultName, Way["code"], RegExp]>([
  ["html", "midtrans", /502 Bad Gateway/],
  ["half answer", "midtrans", /no answer after/],
  ["huge answer", "midtrans", /no answer after .* more than \d+ bytes/],
  ["redirect", "xendit", /\(empty\)/],
  ["wrong currency", "xendit", /"currency":"USD"/],
  ["unknown status", "xendit", /"status":"(?!REQUIRES_ACTION)/],
])(
  "what goes wrong as %s at %s moves no money, and an operator reads it with its payment",
  async (fault, code, said) => {
    const { status, messages } = await tour.meet(new Client(tour.service.demo), code, fault);
    expect(status).toBe("pending");
    expect(messages).toMatch(said);
  },
);

test("the books of all of them replay", async () => {
  const { code } = await gerbang(["verify"], { GERBANG_DATA: tour.service.dataDirectory });
  expect(code).toBe(0);
});
