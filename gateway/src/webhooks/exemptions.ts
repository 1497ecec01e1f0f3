// What the operator lets webhooks reach beyond the public internet: hosts in development, private networks anywhere.
import { inPrivateNetworks } from "../ground/private-networks.ts";

export interface Exemptions {
  /** By their exact names or addresses, wherever they lead. */
  hosts: ReadonlySet<string>;
  /** Whether any network is named: names of private use are looked up then. */
  hasNetworks: boolean;
  /** True for an address in one of the networks that are named. */
  isNamed(address: string): boolean;
}

/** `networks`: in the form of `readPrivateNetworks`. */
export function exemptionsOf(hosts: Iterable<string>, networks: readonly string[] = []): Exemptions {
  return { hosts: new Set(hosts), hasNetworks: networks.length > 0, isNamed: inPrivateNetworks(networks) };
}
