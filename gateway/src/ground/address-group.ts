// Addresses as limits count them: one for each IPv4 address, one for each /64 of IPv6, which one household has to itself. Pure.
import { isIPv6 } from "node:net";

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** What an address counts as. Text that is no address counts as itself. */
export function addressGroup(address: string): string {
  const [plain = ""] = address.split("%"); // a zone names a network card of ours
  const mapped = MAPPED.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(plain)) return plain;
  const [head = "", tail] = plain.split("::");
  const before = head === "" ? [] : head.split(":");
  // An IPv4 address at the end stands for two groups; it is in the last ones, and never among the first four but after `::`.
  const after =
    tail === undefined || tail === ""
      ? []
      : tail.split(":").flatMap((part) => (part.includes(".") ? ["0", "0"] : [part]));
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - before.length - after.length }, () => "0");
  const groups = [...before, ...zeros, ...after].slice(0, 4).map((part) => Number.parseInt(part, 16).toString(16));
  return `${groups.join(":")}::/64`;
}
