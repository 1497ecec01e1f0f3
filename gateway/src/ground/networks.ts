// Networks of IP addresses: reads them into one canonical form, and tests whether an address is in one of them.
import { BlockList, isIP } from "node:net";

/** The canonical form of a network, `10.0.0.0/8` or `2001:db8::/32`; for other text an objection, worded as the end of a sentence. */
export function readNetwork(text: string): { network: string } | { objection: string } {
  const [address = "", prefixText, ...rest] = text.split("/");
  const version = isIP(address);
  const bits = version === 4 ? 32 : 128;
  if (version === 0 || address.includes("%") || rest.length > 0 || !/^(0|[1-9]\d{0,2})$/.test(prefixText ?? "0"))
    return { objection: "is no address and no network such as 203.0.113.0/24" };
  const prefix = prefixText === undefined ? bits : Number(prefixText);
  if (prefix > bits) return { objection: `has a prefix of more than ${bits} bits` };
  const value = valueOf(address);
  if (version === 6 && value >> 32n === 0xffffn)
    return { objection: "is an IPv4 address inside IPv6; write it as IPv4" };
  const first = (value >> BigInt(bits - prefix)) << BigInt(bits - prefix);
  const network = `${textOf(first, version)}/${prefix}`;
  return first === value ? { network } : { objection: `is an address inside a network; the network is ${network}` };
}

/** Makes a test whether an address is in any of the networks (in the form of `readNetwork`). IPv4 inside IPv6 counts as IPv4. */
export function containedIn(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", prefix] = network.split("/");
    list.addSubnet(address, Number(prefix), isIP(address) === 4 ? "ipv4" : "ipv6");
  }
  return (text) => {
    const address = text.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "");
    const version = isIP(address);
    return version !== 0 && list.check(address, version === 4 ? "ipv4" : "ipv6");
  };
}

function valueOf(address: string): bigint {
  if (isIP(address) === 4) return address.split(".").reduce((value, part) => (value << 8n) | BigInt(part), 0n);
  return groupsOf(address).reduce((value, part) => (value << 16n) | BigInt(`0x${part}`), 0n);
}

/** The eight groups of an IPv6 address, in lower-case hex without leading zeros. */
export function groupsOf(address: string): string[] {
  // URL rewrites every spelling of an IPv6 address to one, without dots.
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = "", tail] = text.split("::");
  const groups = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const [left, right] = [groups(head), groups(tail ?? "")];
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => "0"), ...right];
}

function textOf(value: bigint, version: number): string {
  if (version === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join(".");
  const groups = Array.from({ length: 8 }, (_, n) => ((value >> BigInt(112 - 16 * n)) & 0xffffn).toString(16));
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
}
