// Groups of client addresses for limits: each IPv4 address, and each /64 of IPv6, which usually belongs to one household. Pure.
import { isIPv6 } from "node:net";

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** The group that an address counts in. Text that is no address is its own group. */
export function addressGroup(address: string): string {
  const [plain = ""] = address.split("%"); // a zone names a network interface of this machine
  const mapped = MAPPED.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(plain)) return plain;
  const [head = "", tail] = plain.split("::");
  const before = head === "" ? [] : head.split(":");
  // An IPv4 address at the end stands for the last two groups. Their values do not matter: only the first four groups are kept.
  const after =
    tail === undefined || tail === ""
      ? []
      : tail.split(":").flatMap((part) => (part.includes(".") ? ["0", "0"] : [part]));
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - before.length - after.length }, () => "0");
  const groups = [...before, ...zeros, ...after].slice(0, 4).map((part) => Number.parseInt(part, 16).toString(16));
  return `${groups.join(":")}::/64`;
}
