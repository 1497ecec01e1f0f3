// Private networks that an operator may name: which they can be, and which addresses inside them stay closed whatever was named. Pure.
import { isIP } from "node:net";
import { containedIn, readNetwork } from "./networks.ts";

/** Address space that belongs to whoever runs a network, with the least prefix that is narrow enough to be meant. */
const spaces = [
  { network: "10.0.0.0/8", least: 8 },
  { network: "172.16.0.0/12", least: 12 },
  { network: "192.168.0.0/16", least: 16 },
  { network: "100.64.0.0/10", least: 10 },
  { network: "fc00::/7", least: 32 },
].map((space) => ({ ...space, contains: containedIn([space.network]) }));

/** Where clouds hand out the credentials of a machine inside such space: AWS, Google and Alibaba. */
const isMetadata = containedIn(["fd00:ec2::254/128", "fd20:ce::254/128", "100.100.100.200/32"]);

/** So many networks can be named. */
export const NETWORKS_MAX = 32;

/** The networks of a list with commas, each in its one form; or what is wrong with any of them, a sentence each. */
export function readPrivateNetworks(text: string): { networks: string[]; problems: string[] } {
  const written = text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);
  const problems = written.length > NETWORKS_MAX ? [`names more than ${NETWORKS_MAX} networks`] : [];
  const networks: string[] = [];
  for (const part of written) {
    const read = readNetwork(part);
    const objection = "objection" in read ? read.objection : objectionTo(read.network);
    if (objection !== undefined) problems.push(`${part} ${objection}`);
    else if ("network" in read) networks.push(read.network);
  }
  return { networks, problems };
}

function objectionTo(network: string): string | undefined {
  const [address = "", prefix] = network.split("/");
  const space = spaces.find(({ contains }) => contains(address));
  const known = `a private network lies in ${spaces.map((one) => one.network).join(", ")}`;
  if (!space) return `is no private network; ${known}`;
  return Number(prefix) < space.least ? `is too wide; give it a prefix of at least ${space.least} bits` : undefined;
}

/** A test for addresses: whether one is in any of these networks. IPv4 inside IPv6 is in none, nor is an address that hands out credentials. */
export function inPrivateNetworks(networks: readonly string[]): (address: string) => boolean {
  // Apart, because one list of both finds an IPv4 address inside IPv6 as well, in any of its spellings.
  const inFour = containedIn(networks.filter((network) => !network.includes(":")));
  const inSix = containedIn(networks.filter((network) => network.includes(":")));
  return (address) => (isIP(address) === 4 ? inFour : inSix)(address) && !isMetadata(address);
}
