// Goal: a network is what it says, in one spelling, and holds exactly its addresses. Method: tables, and a property over drawn networks.
import fc from "fast-check";
import { expect, test } from "vitest";
import { containedIn, readNetwork } from "./networks.ts";

test.each([
  ["203.0.113.7", "203.0.113.7/32"],
  ["203.0.113.0/24", "203.0.113.0/24"],
  ["0.0.0.0/0", "0.0.0.0/0"],
  ["2001:DB8:0:0::/32", "2001:db8::/32"],
  ["2001:db8::1", "2001:db8::1/128"],
  ["::/0", "::/0"],
  ["::1", "::1/128"],
])("%s is %s", (text, network) => expect(readNetwork(text)).toEqual({ network }));

test.each([
  ["", "no address"],
  ["shop.example", "no address"],
  ["10.0.0.0/", "no address"],
  ["10.0.0.0/8/8", "no address"],
  ["10.0.0.0/08", "no address"],
  ["10.0.0.0/-1", "no address"],
  ["010.0.0.1", "no address"],
  ["fe80::1%eth0", "no address"],
  ["10.0.0.0/33", "more than 32"],
  ["2001:db8::/129", "more than 128"],
  ["::ffff:10.0.0.1", "write it as IPv4"],
  ["10.1.2.3/8", "the network is 10.0.0.0/8"],
  ["2001:db8::1/64", "the network is 2001:db8::/64"],
])("%j is none: %s", (text, objection) =>
  expect(readNetwork(text)).toEqual({ objection: expect.stringContaining(objection) }),
);

test.each([
  ["10.255.0.1", true],
  ["11.0.0.0", false],
  ["::ffff:10.0.0.1", true],
  ["2001:db8:ffff::1", true],
  ["2001:db9::", false],
  ["192.0.2.7", true],
  ["192.0.2.8", false],
  ["", false],
  ["unknown", false],
])("%s is in one of them: %s", (address, expected) =>
  expect(containedIn(["10.0.0.0/8", "2001:db8::/32", "192.0.2.7/32"])(address)).toBe(expected),
);

test("every address is in the network that it is written into", () => {
  const address = fc.oneof(fc.ipV4(), fc.ipV6());
  fc.assert(
    fc.property(address, fc.nat({ max: 128 }), (text, prefix) => {
      fc.pre(!text.includes(".") || prefix <= 32);
      const read = readNetwork(`${text}/${prefix}`);
      const [, suggested] = "objection" in read ? (/the network is (\S+)$/.exec(read.objection) ?? []) : [];
      const network = "network" in read ? read.network : suggested;
      fc.pre(network !== undefined);
      expect(readNetwork(network)).toEqual({ network });
      expect(containedIn([network])(text)).toBe(true);
    }),
  );
});
