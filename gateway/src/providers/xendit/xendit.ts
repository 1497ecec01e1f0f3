// Xendit as an acquirer: its capabilities. Its calls are in calls.ts, their contents in requests.ts, answers.ts and webhooks.ts.
import type { Acquirer, AcquirerCalls } from "../../acquirers/acquirer.ts";
import { acquirerOf } from "../../acquirers/remote-profile.ts";
import { capabilitiesOf, provider } from "../profile.ts";
import { RUPIAH } from "./amounts.ts";
import { XenditCalls } from "./calls.ts";
import { type XenditProfile, xenditSchema } from "./profile.ts";

/** Creates the acquirer that a profile describes. Throws when a key is missing or of the other environment. `close` closes its connections. */
export function xenditAcquirer(profile: XenditProfile): Acquirer & { calls: AcquirerCalls; close(): Promise<void> } {
  const calls = new XenditCalls(profile);
  return {
    ...acquirerOf(profile),
    capabilities: capabilitiesOf(
      profile.methods,
      (currency) => (currency === "IDR" ? RUPIAH : 1n),
      (method) => method !== "va",
    ),
    calls,
    close: () => calls.close(),
  };
}

export const xendit = provider("xendit", xenditSchema, xenditAcquirer);
