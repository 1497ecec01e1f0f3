// The guard lets webhooks go to public addresses and to networks that the operator names, and nowhere else. It checks an address when
// it is registered, and again at each connection the IP address that is connected to.
import type { LookupAddress } from "node:dns";
import { Resolver, lookup as systemLookup } from "node:dns/promises";
import { isIP } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { containedIn } from "../ground/networks.ts";
import type { Exemptions } from "./exemptions.ts";

const URL_MAX = 2048;

/** The objection to a host that is not public, by its name or by the address that it resolves to. */
export const NOT_PUBLIC =
  "The address must be reachable from the public internet; this host is not. An operator can allow it by WEBHOOK_ALLOW_HOSTS, in production by WEBHOOK_ALLOW_NETWORKS.";

/** Networks of IPv4 that are not public. */
const closedNetworks = [
  ["0.0.0.0", 8], // this network
  ["10.0.0.0", 8], // private
  ["100.64.0.0", 10], // carrier-grade NAT
  ["127.0.0.0", 8], // loopback
  ["168.63.129.16", 32], // the host's agent of every machine on Azure
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
] as const;

/** The network of 6to4 that belongs to a network of IPv4: the address is the second and the third group. */
function in6to4(network: string, prefix: number): string {
  const digits = Buffer.from(network.split(".").map(Number)).toString("hex");
  return `2002:${digits.slice(0, 4)}:${digits.slice(4)}::/${16 + prefix}`;
}

const isClosed = containedIn([
  ...closedNetworks.flatMap(([network, prefix]) => [
    `${network}/${prefix}`,
    `64:ff9b::${network}/${96 + prefix}`, // NAT64
    in6to4(network, prefix),
  ]),
  "2001::/23", // Teredo, ORCHID, benchmarking and other protocol assignments
  "2001:db8::/32", // documentation
  "3fff::/20", // documentation
]);
/** Only 2000::/3 of IPv6 is assigned to the public internet. NAT64 is outside of it, and judged by the embedded IPv4 address. */
const isAssigned = containedIn(["2000::/3", "64:ff9b::/96"]);

/** True for an address on the public internet, in every spelling. IPv4 embedded in IPv6 is judged as IPv4. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 0 || address.includes("%")) return false;
  return (version === 4 || isAssigned(address)) && !isClosed(address);
}

/** Names that webhooks never go to, whatever they resolve to. */
const RESERVED = /(^|\.)(localhost|test|invalid|example|onion|arpa)$/;
/** Names that only a private network resolves. Names without a dot count as such too. */
const OF_PRIVATE_NETWORKS = /(^|\.)(local|localdomain|internal|intranet|private|corp|home|lan)$/;

/** True for a name that is refused unseen. Where the operator names networks, private names are looked up. `localhost..` is nowhere. */
function isClosedName(name: string, { hasNetworks }: Exemptions): boolean {
  const host = name.replace(/\.$/, "");
  if (RESERVED.test(host) || host.split(".").includes("")) return true;
  return !hasNetworks && (!host.includes(".") || OF_PRIVATE_NETWORKS.test(host));
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
  if (!/^https:\/\/(?!\/)[^\s\\\x00-\x1f\x7f]+$/i.test(text))
    return "The address must begin with https:// and have no spaces.";
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return "The address is not a URL.";
  }
  if (url.href.length > URL_MAX) return `The address, percent-encoded, may have at most ${URL_MAX} characters.`;
  if (/^https:\/\/[^/?#]*@/i.test(text)) return "The address must not carry a user name or password.";
  const host = bareHost(url.hostname);
  if (exemptions.hosts.has(host)) return undefined;
  const mayGo = isIP(host) === 0 ? !isClosedName(host, exemptions) : mayGoTo(host, exemptions);
  return mayGo ? undefined : NOT_PUBLIC;
}

/** The host as an address or a lower-case name, without brackets. `new URL` has already unified the spellings of IPv4. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "").toLowerCase();
}

export class ForbiddenAddress extends Error {
  override name = "ForbiddenAddress";
}

/** Does not say which address: merchants read it, and name servers of a private network would tell them what its names stand for. */
export const notPublic = (host: string) => new ForbiddenAddress(`${host} leads to an address that is not public`);

/** True when a connection that is meant for a host may go to an address. */
export function mayConnect(host: string, address: string, exemptions: Exemptions): boolean {
  return exemptions.hosts.has(host) || mayGoTo(address, exemptions);
}

/** Gives all addresses of a host, those of IPv4 first. Throws `ForbiddenAddress` when one of them is neither public nor in a named network. */
export async function vet(host: string, exemptions: Exemptions): Promise<LookupAddress[]> {
  const version = isIP(host);
  const found = version === 0 ? await resolve(host, exemptions) : [{ address: host, family: version }];
  if (!found.every(({ address }) => mayConnect(host, address, exemptions))) throw notPublic(host);
  return found;
}

/** Addresses of one family wait this long for those of the other: some name servers never answer a question for IPv6. */
const OTHER_FAMILY_MS = 250;

/**
 * All addresses of a name, from the name servers. The system's own lookup runs on few threads, which a merchant's slow name
 * server could block for every merchant. Only names that the configuration exempts use it, because /etc/hosts may define them.
 */
async function resolve(host: string, exemptions: Exemptions): Promise<LookupAddress[]> {
  if (exemptions.hosts.has(host)) return systemLookup(host, { all: true, order: "ipv4first" });
  if (isClosedName(host, exemptions)) throw new ForbiddenAddress(`${host} is not a public name`);
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const found: LookupAddress[] = [];
  const ask = async (family: 4 | 6, answer: Promise<string[]>): Promise<void> =>
    void found.push(...(await answer).map((address) => ({ address, family })));
  const asked = [ask(4, resolver.resolve4(host)), ask(6, resolver.resolve6(host))];
  await Promise.any(asked).catch(({ errors: [first] }: AggregateError) => Promise.reject(first as Error));
  await Promise.race([Promise.allSettled(asked), pause(OTHER_FAMILY_MS)]);
  resolver.cancel();
  return found.sort((one, other) => one.family - other.family);
}
