// The connector of Midtrans: charges by its Core API, card pages by Snap, inquiries and refunds. README.md lists the documentation.
import type { AcquirerCalls } from "../../acquirers/acquirer.ts";
import { type Clock, systemClock } from "../../ground/clock.ts";
import { definiteOnly } from "../caller.ts";
import { type OpenAcquirer, capabilitiesOf, provider } from "../profile.ts";
import { check } from "./check.ts";
import { confirmDispute } from "./disputes.ts";
import { Host } from "./host.ts";
import { notification } from "./notification.ts";
import { Payments } from "./payments.ts";
import { type MidtransProfile, addressesOf, midtransSchema } from "./profile.ts";
import { Refunds } from "./refunds.ts";
import { STEP_MINOR } from "./requests.ts";

export const midtrans = provider("midtrans", midtransSchema, (profile) => midtransAcquirer(profile));

/** Creates the acquirer that a profile describes. `close` closes its connections; calls in flight end with an unknown outcome. */
export function midtransAcquirer(
  profile: MidtransProfile,
  clock: Clock = systemClock,
): OpenAcquirer & { calls: AcquirerCalls } {
  const host = new Host(profile, clock);
  const payments = new Payments(host);
  const refunds = new Refunds(host);
  return {
    code: profile.code,
    name: profile.name,
    environment: profile.environment,
    weight: profile.weight,
    capabilities: capabilitiesOf(profile.methods, () => STEP_MINOR),
    issue: () => undefined,
    asksAfterMs: () => undefined,
    refundsLater: () => true,
    remote: true,
    dashboardUrl: () => addressesOf(profile).dashboard,
    calls: {
      deadlineMs: profile.deadline_ms,
      open: (request, signal, tell) => payments.open(request, { signal, tell }),
      ask: (request, signal, tell) => payments.ask(request, { signal, tell }),
      cancel: (request, signal, tell) => definiteOnly(payments.cancel(request, { signal, tell })),
      judge: (request, judgement, signal, tell) => definiteOnly(payments.judge(request, judgement, { signal, tell })),
      refund: (request, signal, tell) => refunds.refund(request, { signal, tell }),
      askRefund: (request, signal, tell) => refunds.askRefund(request, { signal, tell }),
      receive: ({ body }) => notification(body, host.key.accepted()),
      confirmDispute: (request, signal, tell) => confirmDispute(host, request, { signal, tell }),
      check: (signal, tell) => check(host, { signal, tell }),
    },
    close: () => host.close(),
  };
}
