// The guard lets webhooks go to public addresses and to networks that the operator names, and nowhere else. It checks an address when
// it is registered, and again at each connection the IP address that is connected to.
import { Resolver, lookup as systemLookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";
import type { Exemptions } from "./exemptions.ts";

const URL_MAX = 2048;

/** The objection to a host that is not public, by its name or by the address that it resolves to. */
export const NOT_PUBLIC = "The address must be reachable from the public internet; this host is not.";

const refused = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8], // this network
  ["10.0.0.0", 8], // private
  ["100.64.0.0", 10], // carrier-grade NAT
  ["127.0.0.0", 8], // loopback
  ["169.254.0.0", 16], // link-local, cloud metadata
  ["172.16.0.0", 12], // private
  ["192.0.0.0", 24], // protocol assignments
  ["192.0.2.0", 24], // documentation
  ["192.31.196.0", 24], // AS112
  ["192.52.193.0", 24], // AMT
  ["192.88.99.0", 24], // 6to4 relays
  ["192.168.0.0", 16], // private
  ["192.175.48.0", 24], // AS112
  ["198.18.0.0", 15], // benchmarking
  ["198.51.100.0", 24], // documentation
  ["203.0.113.0", 24], // documentation
  ["224.0.0.0", 4], // multicast
  ["240.0.0.0", 4], // reserved, broadcast
] as const) {
  refused.addSubnet(network, prefix, "ipv4");
}

/** The eight 16-bit groups of an IPv6 address; a dotted IPv4 tail becomes two groups. */
function groupsOf(address: string): number[] {
  let text = address.split("%")[0] ?? "";
  const dotted = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  if (dotted) {
    const [a, b, c, d] = dotted.slice(1).map(Number) as [number, number, number, number];
    text = text.slice(0, dotted.index) + `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  }
  const [head = "", tail] = text.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const middle = tail === undefined ? [] : Array.from({ length: 8 - left.length - right.length }, () => "0");
  return [...left, ...middle, ...right].map((group) => Number.parseInt(group, 16));
}

/** True for an address on the public internet, in every spelling. IPv4 embedded in IPv6 is judged as IPv4. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !refused.check(address, "ipv4");
  if (version !== 6 || address.includes("%")) return false;
  const groups = groupsOf(address);
  const [first = 0, second = 0] = groups;
  const embedded = (at: number): string => {
    const [high = 0, low = 0] = groups.slice(at, at + 2);
    return [high >> 8, high & 255, low >> 8, low & 255].join(".");
  };
  // Only 2000::/3 is assigned to the public internet. NAT64 is outside of it and is judged by the embedded IPv4 address.
  if (first === 0x64 && second === 0xff9b && groups.slice(2, 6).every((group) => group === 0)) {
    return isPublicAddress(embedded(6));
  }
  if (first >> 13 !== 1) return false;
  if (first === 0x2002) return isPublicAddress(embedded(1)); // 6to4
  if (first === 0x2001 && second < 0x200) return false; // Teredo, ORCHID, benchmarking and other protocol assignments
  if (first === 0x2001 && second === 0xdb8) return false; // documentation
  return !(first === 0x3fff && second < 0x1000); // documentation
}

/** Names that webhooks never go to, whatever they resolve to. */
const RESERVED = /(^|\.)(localhost|test|invalid|example|onion|arpa)$/;
/** Names that only a private network resolves. Names without a dot count as such too. */
const OF_PRIVATE_NETWORKS = /(^|\.)(local|localdomain|internal|intranet|private|corp|home|lan)$/;

/** True for a name that is refused without a look-up. Where the operator names networks, names of private use are looked up. */
function isClosedName(name: string, { hasNetworks }: Exemptions): boolean {
  const host = name.replace(/\.$/, "");
  return RESERVED.test(host) || (!hasNetworks && (!host.includes(".") || OF_PRIVATE_NETWORKS.test(host)));
}

function mayGoTo(address: string, exemptions: Exemptions): boolean {
  return isPublicAddress(address) || exemptions.isNamed(address);
}

/** The spelling in which an accepted address is stored: scheme and host in lower case, the rest percent-encoded. */
export function normalized(text: string): string {
  return new URL(text).href;
}

/** Why webhooks may not go to an address (interface 6.1), in words; undefined when they may. Looks nothing up. */
export function objectionTo(text: string, exemptions: Exemptions): string | undefined {
  if (text.length > URL_MAX) return `The address may have at most ${URL_MAX} characters.`;
  if (!text.isWellFormed()) return "The address is not Unicode text.";
  // Text that `new URL` would silently repair is refused, so that the stored address is the one that was meant.
  // oxlint-disable-next-line no-control-regex -- control characters are exactly what is looked for
  if (!/^https:\/\/[^\s\\\x00-\x1f\x7f]+$/i.test(text))
    return "The address must begin with https:// and have no spaces.";
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return "The address is not a URL.";
  }
  if (url.href.length > URL_MAX) return `The address, percent-encoded, may have at most ${URL_MAX} characters.`;
  if (url.username !== "" || url.password !== "") return "The address must not carry a user name or password.";
  const host = hostOf(url);
  if (exemptions.hosts.has(host)) return undefined;
  const isClosed = isIP(host) === 0 ? isClosedName(host, exemptions) : !mayGoTo(host, exemptions);
  return isClosed ? NOT_PUBLIC : undefined;
}

/** The host as an address or a lower-case name, without brackets. `new URL` has already unified the spellings of IPv4. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
}

export interface VettedAddress {
  address: string;
  family: 4 | 6;
}

export class ForbiddenAddress extends Error {
  override name = "ForbiddenAddress";
}

/** Gives all addresses of a host. Throws `ForbiddenAddress` when one of them is neither public nor in a named network. */
export async function vet(host: string, exemptions: Exemptions): Promise<VettedAddress[]> {
  const version = isIP(host);
  const found = version === 0 ? await resolve(host, exemptions) : [{ address: host, family: version }];
  if (!exemptions.hosts.has(host)) {
    const bad = found.find(({ address }) => !mayGoTo(address, exemptions));
    if (bad) throw new ForbiddenAddress(`${host} leads to ${bad.address}, which is not a public address`);
  }
  return found as VettedAddress[];
}

/**
 * All addresses of a name, from the name servers. The system's own lookup runs on few threads, which a merchant's slow name
 * server could block for every merchant. Only names that the configuration exempts use it, because /etc/hosts may define them.
 */
async function resolve(host: string, exemptions: Exemptions): Promise<{ address: string; family: number }[]> {
  if (exemptions.hosts.has(host)) return systemLookup(host, { all: true, verbatim: true });
  if (isClosedName(host, exemptions)) throw new ForbiddenAddress(`${host} is not a public name`);
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = [
    ...(v4.status === "fulfilled" ? v4.value.map((address) => ({ address, family: 4 })) : []),
    ...(v6.status === "fulfilled" ? v6.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (found.length === 0) throw (v4 as PromiseRejectedResult).reason;
  return found;
}
