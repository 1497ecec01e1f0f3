// The connector of Midtrans: charges by its Core API, card pages by Snap, inquiries and refunds. README.md lists the documentation.
import type { AcquirerCalls } from "../../acquirers/acquirer.ts";
import { acquirerOf } from "../../acquirers/remote-profile.ts";
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
    ...acquirerOf(profile),
    capabilities: capabilitiesOf(
      profile.methods,
      () => STEP_MINOR,
      (method) => method !== "va",
    ),
    dashboardUrl: () => addressesOf(profile).dashboard,
    calls: {
      deadlineMs: profile.deadline_ms,
      open: (request, signal, record) => payments.open(request, { signal, record }),
      inquire: (request, signal, record) => payments.inquire(request, { signal, record }),
      cancel: (request, signal, record) => definiteOnly(payments.cancel(request, { signal, record })),
      judge: (request, judgement, signal, record) =>
        definiteOnly(payments.judge(request, judgement, { signal, record })),
      refund: (request, signal, record) => refunds.refund(request, { signal, record }),
      inquireRefund: (request, signal, record) => refunds.inquireRefund(request, { signal, record }),
      receive: ({ body }) => notification(body, host.key.accepted()),
      confirmDispute: (request, signal, record) => confirmDispute(host, request, { signal, record }),
      check: (signal, record) => check(host, { signal, record }),
    },
    close: () => host.close(),
  };
}
