// Groups of client addresses for limits: each IPv4 address, and each /64 of IPv6, which usually belongs to one household. Pure.
import { isIPv6 } from "node:net";
import { groupsOf } from "./networks.ts";

const IPV4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)(?::\d+)?$/i;
const IN_BRACKETS = /^\[(.*)\](?::\d+)?$/;

/** The group that an address counts in, whatever port a proxy reports with it. Text that is no address is its own group, cut to 60 characters. */
export function addressGroup(address: string): string {
  const [plain = ""] = address.replace(IN_BRACKETS, "$1").split("%"); // a zone names a network interface of this machine
  const version4 = IPV4.exec(plain)?.[1];
  if (version4 !== undefined) return version4;
  return isIPv6(plain) ? `${groupsOf(plain).slice(0, 4).join(":")}::/64` : plain.slice(0, 60);
}
