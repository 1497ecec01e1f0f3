// Groups of client addresses for limits: each IPv4 address, and each /64 of IPv6, which usually belongs to one household. Pure.
import { isIPv6 } from "node:net";
import { groupsOf } from "./networks.ts";

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** The group that an address counts in. Text that is no address is its own group. */
export function addressGroup(address: string): string {
  const [plain = ""] = address.split("%"); // a zone names a network interface of this machine
  const mapped = MAPPED.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  return isIPv6(plain) ? `${groupsOf(plain).slice(0, 4).join(":")}::/64` : plain;
}
