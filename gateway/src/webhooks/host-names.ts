// Checks while a payment is created whether the host of its callback_url resolves to an address that webhooks may not go to. The check
// tells the merchant of the mistake at once, instead of by failing deliveries. A host whose look-up takes too long is accepted, because
// the guard looks it up again at each attempt.
import type { LookupAddress } from "node:dns";
import { isIP } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { stopwatchMs } from "../ground/clock.ts";
import { KeyedCount } from "../ground/keyed-count.ts";
import { NewestMap } from "../ground/newest.ts";
import type { Exemptions } from "./exemptions.ts";
import { ForbiddenAddress, vet } from "./guard.ts";

interface NameLimits {
  /** How long a request waits for a look-up. The look-up itself goes on, and the next request finds its result. */
  waitMs: number;
  /** How long a result is cached, and how long the lack of one: a silent name server delays one request, not each. */
  knownMs: number;
  unknownMs: number;
  namesMax: number;
  /** Look-ups under way, in all and for one merchant. The resolver's own time limit of a few seconds ends them. */
  lookupsMax: number;
  lookupsPerMerchant: number;
}

export const nameLimits: NameLimits = {
  waitMs: 300,
  knownMs: 60_000,
  unknownMs: 15_000,
  namesMax: 5_000,
  lookupsMax: 32,
  lookupsPerMerchant: 4,
};

type Verdict = "public" | "forbidden" | "unknown";

export class HostNames {
  private readonly exemptions: Exemptions;
  private readonly lookUp: (host: string, exemptions: Exemptions) => Promise<LookupAddress[]>;
  private readonly limits: NameLimits;
  private readonly known: NewestMap<string, { verdict: Verdict; until: number }>;
  private readonly running = new Map<string, Promise<Verdict>>();
  private readonly byMerchant = new KeyedCount();

  /** Hosts in `exemptions` are not looked up. */
  constructor(exemptions: Exemptions, lookUp = vet, limits = nameLimits) {
    this.exemptions = exemptions;
    this.lookUp = lookUp;
    this.limits = limits;
    this.known = new NewestMap(limits.namesMax);
  }

  /** True when a host, as `bareHost` gives it, is known to lead to an address that is not public, or is found to within `waitMs`. Never throws. */
  async isForbidden(host: string, merchantId: string): Promise<boolean> {
    // `objectionTo` has judged IP addresses. Exempt names would be looked up on the few threads of the system's resolver.
    if (isIP(host) !== 0 || this.exemptions.hosts.has(host)) return false;
    const kept = this.known.get(host);
    if (kept && kept.until > stopwatchMs()) return kept.verdict === "forbidden";
    const verdict = this.running.get(host) ?? this.begin(host, merchantId);
    if (verdict === undefined) return false;
    return (await Promise.race([verdict, pause(this.limits.waitMs, "unknown")])) === "forbidden";
  }

  /** Starts a look-up. Gives undefined when too many look-ups are under way. */
  private begin(host: string, merchantId: string): Promise<Verdict> | undefined {
    const { lookupsMax, lookupsPerMerchant } = this.limits;
    if (this.running.size >= lookupsMax || this.byMerchant.of(merchantId) >= lookupsPerMerchant) return undefined;
    this.byMerchant.add(merchantId, 1);
    const verdict = this.judge(host).then((found) => {
      this.running.delete(host);
      this.byMerchant.add(merchantId, -1);
      this.keep(host, found);
      return found;
    });
    this.running.set(host, verdict);
    return verdict;
  }

  private async judge(host: string): Promise<Verdict> {
    try {
      await this.lookUp(host, this.exemptions);
      return "public";
    } catch (error) {
      return error instanceof ForbiddenAddress ? "forbidden" : "unknown";
    }
  }

  private keep(host: string, verdict: Verdict): void {
    const { knownMs, unknownMs } = this.limits;
    const until = stopwatchMs() + (verdict === "unknown" ? unknownMs : knownMs);
    this.known.set(host, { verdict, until });
  }
}
