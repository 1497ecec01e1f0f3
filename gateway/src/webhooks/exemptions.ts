// The addresses beyond the public internet that the operator lets webhooks reach: hosts in development, private networks anywhere.
import { inPrivateNetworks } from "../ground/private-networks.ts";

export interface Exemptions {
  /** Exact host names or addresses, exempt wherever they resolve to. */
  hosts: ReadonlySet<string>;
  /** True when the operator names any network: then names of private use are looked up. */
  hasNetworks: boolean;
  /** True for an address in a network that the operator names. */
  isNamed(address: string): boolean;
}

/** Takes `networks` in the form of `readPrivateNetworks`. */
export function exemptionsOf(hosts: Iterable<string>, networks: readonly string[] = []): Exemptions {
  return { hosts: new Set(hosts), hasNetworks: networks.length > 0, isNamed: inPrivateNetworks(networks) };
}
