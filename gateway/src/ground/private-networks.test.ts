// Goal: an operator can name private networks and nothing else, and what hands out credentials stays closed inside them. Method: tables, the
// configuration as it is read, and a property over drawn networks.
import fc from "fast-check";
import { expect, test } from "vitest";
import { readConfig } from "./config.ts";
import { NETWORKS_MAX, inPrivateNetworks, readPrivateNetworks } from "./private-networks.ts";

test.each([
  ["10.1.0.0/16", ["10.1.0.0/16"]],
  ["10.0.0.0/8, 172.16.0.0/12 ,192.168.7.9", ["10.0.0.0/8", "172.16.0.0/12", "192.168.7.9/32"]],
  ["100.64.0.0/10,FD12:3456::/48", ["100.64.0.0/10", "fd12:3456::/48"]],
  ["fd12:3456::/32", ["fd12:3456::/32"]],
  ["", []],
])("%j names %j", (text, networks) => expect(readPrivateNetworks(text)).toEqual({ networks, problems: [] }));

test.each([
  ["0.0.0.0/0", "is no private network"],
  ["::/0", "is no private network"],
  ["127.0.0.0/8", "is no private network"],
  ["::1", "is no private network"],
  ["169.254.0.0/16", "is no private network"],
  ["169.254.169.254", "is no private network"],
  ["fe80::/64", "is no private network"],
  ["1.1.1.0/24", "is no private network"],
  ["224.0.0.0/4", "is no private network"],
  ["64:ff9b::/96", "is no private network"],
  ["2002:a00::/24", "is no private network"],
  ["8.0.0.0/5", "is no private network"],
  ["172.16.0.0/11", "the network is 172.0.0.0/11"],
  ["192.168.0.0/15", "is too wide"],
  ["10.0.0.0/7", "is too wide"],
  ["fc00::/7", "is too wide"],
  ["fd00::/8", "is too wide"],
  ["10.1.2.3/16", "the network is 10.1.0.0/16"],
  ["::ffff:10.0.0.0/104", "write it as IPv4"],
  ["shop.internal", "is no address"],
])("%s is refused: it %s", (text, problem) => {
  expect(readPrivateNetworks(`192.168.1.0/24,${text}`).problems).toEqual([expect.stringContaining(problem)]);
  const env = { WEBHOOK_ALLOW_NETWORKS: text };
  expect(() => readConfig(env)).toThrow(/WEBHOOK_ALLOW_NETWORKS: /);
});

test("networks can be named in production too, but not without end", () => {
  expect(readConfig({ WEBHOOK_ALLOW_NETWORKS: "10.1.0.0/16" }).webhookAllowNetworks).toEqual(["10.1.0.0/16"]);
  expect(readConfig({}).webhookAllowNetworks).toEqual([]);
  const production = {
    NODE_ENV: "production",
    MASTER_KEY: "3b1f6a0c9d2e47588f6b1c0d9e8a7f65443322110f0e0d0c1b2a394857667584",
    OPERATOR_TOKEN: "op_9f2c71e04d5b8a6630c1e7f2",
    BASE_URL: "https://pay.example/v1",
    DATABASE_URL: "postgres://gerbang@db.example/gerbang?sslmode=verify-full",
    WEBHOOK_ALLOW_NETWORKS: "10.1.0.0/16",
  };
  expect(readConfig(production).webhookAllowNetworks).toEqual(["10.1.0.0/16"]);
  const many = Array.from({ length: NETWORKS_MAX + 1 }, (_, n) => `10.${n}.0.0/16`).join(",");
  expect(readPrivateNetworks(many).problems).toEqual([`names more than ${NETWORKS_MAX} networks`]);
});

test.each([
  ["10.1.255.9", true],
  ["10.2.0.1", false],
  ["::ffff:10.1.0.1", false],
  ["::ffff:a01:1", false],
  ["0:0:0:0:0:ffff:a01:1", false],
  ["::a01:1", false],
  ["64:ff9b::a01:1", false],
  ["fd12:3456::1", true],
  ["fd12:3457::1", false],
  ["fd00:ec2::254", false],
  ["fd20:ce::254", false],
  ["100.100.100.200", false],
  ["100.100.100.201", true],
  ["127.0.0.1", false],
  ["8.8.8.8", false],
  ["", false],
])("%s is in a network that was named: %s", (address, expected) => {
  const named = inPrivateNetworks(["10.1.0.0/16", "100.64.0.0/10", "fd12:3456::/32", "fd00:ec2::/32", "fd20:ce::/32"]);
  expect(named(address)).toBe(expected);
});

test("nobody can name a network that holds a public, loopback or link-local address", () => {
  const refused = [
    "127.0.0.1",
    "169.254.169.254",
    "0.0.0.0",
    "8.8.8.8",
    "::1",
    "fe80::1",
    "2606:4700::1111",
    "224.0.0.1",
  ];
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat({ max: 128 }), (address, prefix) => {
      const { networks } = readPrivateNetworks(`${address}/${prefix}`);
      for (const one of refused) expect(inPrivateNetworks(networks)(one)).toBe(false);
    }),
  );
});
