// Private networks that an operator may open for webhooks: which networks are allowed, and which addresses in them always stay closed. Pure.
import { isIP } from "node:net";
import { containedIn, readNetwork } from "./networks.ts";

/** Private address spaces, each with the shortest prefix that a network inside it may have. */
const spaces = [
  { network: "10.0.0.0/8", least: 8 },
  { network: "172.16.0.0/12", least: 12 },
  { network: "192.168.0.0/16", least: 16 },
  { network: "100.64.0.0/10", least: 10 },
  { network: "fc00::/7", least: 32 },
].map((space) => ({ ...space, contains: containedIn([space.network]) }));

/** Metadata services inside private space, which give out the credentials of a machine: AWS, Google and Alibaba. */
const isMetadata = containedIn(["fd00:ec2::254/128", "fd20:ce::254/128", "100.100.100.200/32"]);

export const NETWORKS_MAX = 32;

/** Reads a comma-separated list: gives the networks in canonical form, and a sentence for each problem. */
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

/** Makes a test whether an address is in any of these networks. IPv4 inside IPv6 and metadata services are in none. */
export function inPrivateNetworks(networks: readonly string[]): (address: string) => boolean {
  // Two lists, because one list of both kinds would also match IPv4 addresses inside IPv6, in any spelling.
  const inFour = containedIn(networks.filter((network) => !network.includes(":")));
  const inSix = containedIn(networks.filter((network) => network.includes(":")));
  return (address) => (isIP(address) === 4 ? inFour : inSix)(address) && !isMetadata(address);
}
