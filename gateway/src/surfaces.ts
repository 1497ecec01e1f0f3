// The HTTP surfaces: lists of the endpoints of merchants, their sandboxes, operators and people, made from the rooms.
import type { AccessEndpoint } from "./access/endpoint.ts";
import { passkeyEndpoints } from "./access/passkeys.routes.ts";
import { personEndpoints } from "./access/person.routes.ts";
import { type ServiceView, SessionViews } from "./access/session-view.ts";
import { type SessionEndpointParts, sessionEndpoints } from "./access/session.routes.ts";
import { planRefund } from "./acquiring/planning.ts";
import { balanceEndpoints } from "./balances/balances.routes.ts";
import { doctorEndpoints } from "./diagnostics/diagnosis.routes.ts";
import { loggedRequestEndpoints } from "./diagnostics/requests.routes.ts";
import { Examiner } from "./diagnostics/receiver-test.ts";
import { examEndpoint } from "./diagnostics/receiver-test.routes.ts";
import { disputeEndpoints } from "./disputes/disputes.routes.ts";
import type { Foundation } from "./foundation.ts";
import type { Config } from "./ground/config.ts";
import { validationFault } from "./ground/fault.ts";
import type { Endpoint } from "./http/endpoint.ts";
import { linkPath } from "./links/link-address.ts";
import { linkEndpoints } from "./links/links.routes.ts";
import { acquirerCostEndpoints } from "./operator/acquirer-costs.routes.ts";
import { acquirerHealthEndpoint } from "./operator/acquirer-health.routes.ts";
import { acquirerStraysEndpoint } from "./operator/acquirer-strays.routes.ts";
import { acquirerEndpoints } from "./operator/acquirers.routes.ts";
import { approvalEndpoints } from "./operator/approvals.routes.ts";
import type { Approvals } from "./operator/approvals.ts";
import { auditEndpoints } from "./operator/audit.routes.ts";
import type { Audit } from "./operator/audit.ts";
import type { BookReplays } from "./operator/book-replays.ts";
import { bookVerificationEndpoints } from "./operator/book-verifications.routes.ts";
import { bookEndpoints } from "./operator/books.routes.ts";
import { exceptionEndpoints } from "./operator/reconciliation-exceptions.routes.ts";
import { operatorDisputeEndpoints } from "./operator/disputes.routes.ts";
import type { OperatorEndpoint } from "./operator/endpoint.ts";
import { rightsInConsole } from "./operator/session-rights.ts";
import { operatorEventEndpoints } from "./operator/events.routes.ts";
import { incidentEndpoints } from "./operator/incidents.routes.ts";
import { KeyedMoves } from "./operator/keyed-moves.ts";
import { merchantEndpoints } from "./operator/merchants.routes.ts";
import type { PaymentRecordParts } from "./operator/payment-record.ts";
import { operatorInvitationAccess, operatorPeopleEndpoints } from "./operator/operators.routes.ts";
import { paymentAtAcquirerEndpoint } from "./operator/payment-acquirer.routes.ts";
import { operatorPaymentEndpoints } from "./operator/payments.routes.ts";
import { receiptEndpoints } from "./operator/receipts.routes.ts";
import { payerEndpoint as operatorPayerEndpoint } from "./operator/payers.routes.ts";
import { outcomeEndpoints } from "./operator/outcomes.routes.ts";
import { operatorRefundEndpoints } from "./operator/refunds.routes.ts";
import type { Refusals } from "./operator/refusals.ts";
import { reviewEndpoints } from "./operator/reviews.routes.ts";
import { routingEndpoints } from "./operator/routing.routes.ts";
import { operatorSearchEndpoint } from "./operator/search.routes.ts";
import { settlementCalendarEndpoints } from "./operator/settlement-calendar.routes.ts";
import { operatorSettlementEndpoints } from "./operator/settlements.routes.ts";
import { splitEndpoints } from "./operator/splits.routes.ts";
import { statementEndpoints } from "./operator/statements.routes.ts";
import { trialBalanceEndpoints } from "./operator/trial-balance.routes.ts";
import { systemEndpoint } from "./operator/system.routes.ts";
import { waitingItemEndpoints } from "./operator/waiting-items.routes.ts";
import { waitingEndpoint } from "./operator/waiting.routes.ts";
import { tokenEndpoints } from "./operator/tokens.routes.ts";
import type { OperatorTokens } from "./operator/tokens.ts";
import type { OperatorStreams } from "./operator/stream.ts";
import { Wall } from "./operator/wall.ts";
import { wallEndpoints } from "./operator/wall.routes.ts";
import { whatIfEndpoint } from "./operator/what-if.routes.ts";
import { webhookEndpoints } from "./operator/webhooks.routes.ts";
import { Merchants } from "./merchants/merchants.ts";
import { paymentEndpoints } from "./payments/payments.routes.ts";
import { refundEndpoints } from "./refunds/refunds.routes.ts";
import { DeviceCodes } from "./people/device-codes.ts";
import { Mail } from "./people/mail.ts";
import { invitationPage, portalRoot } from "./people/relying-party.ts";
import type { Surface } from "./people/sessions.sql.ts";
import type { PeopleAudit } from "./people/audit.ts";
import { keyEndpoints } from "./portal/credentials.routes.ts";
import { deliveryEndpoints } from "./portal/deliveries.routes.ts";
import { deviceEndpoints } from "./portal/device-codes.routes.ts";
import type { PortalEndpoint } from "./portal/endpoint.ts";
import { evidenceEndpoints } from "./portal/evidence.routes.ts";
import { idempotencyEndpoints } from "./portal/idempotency.routes.ts";
import { insightsEndpoints } from "./portal/insights.routes.ts";
import { invitationEndpoints } from "./portal/invitations.routes.ts";
import { payerEndpoint } from "./portal/payers.routes.ts";
import { requestEndpoints } from "./portal/requests.routes.ts";
import { rightsInPortal } from "./portal/memberships.ts";
import { bookPagesEndpoints } from "./portal/books.routes.ts";
import { paymentAtAcquirerEndpoint as paymentOfMemberAtAcquirerEndpoint } from "./portal/payment-acquirer.routes.ts";
import { searchEndpoints } from "./portal/search.routes.ts";
import { settingsEndpoints } from "./portal/settings.routes.ts";
import { teamEndpoints } from "./portal/team.routes.ts";
import { workbenchEndpoints } from "./portal/workbench.routes.ts";
import { webhookSettingsEndpoints } from "./portal/webhook.routes.ts";
import { type ConsoleAddress, type Rooms, statusParts } from "./rooms.ts";
import { AcquirerCosts } from "./routing/costs.ts";
import { RuleSets } from "./routing/rule-sets.ts";
import { WhatIfs } from "./routing/what-ifs.ts";
import { faultInjectionEndpoints } from "./sandbox/fault-injection.routes.ts";
import { Listening } from "./sandbox/listen.routes.ts";
import { sandboxEndpoints } from "./sandbox/sandbox.routes.ts";
import { triggerEndpoint } from "./sandbox/trigger.routes.ts";
import { settlementEndpoints } from "./settlements/settlements.routes.ts";
import { Incidents } from "./status/incidents.ts";
import { eventEndpoints } from "./webhooks/events.routes.ts";
import { type Exemptions, exemptionsOf } from "./webhooks/exemptions.ts";
import { ForbiddenAddress, NOT_PUBLIC, bareHost, normalized, objectionTo, vet } from "./webhooks/guard.ts";
import { HostNames } from "./webhooks/host-names.ts";
import { Sender } from "./webhooks/sender.ts";
import type { DeliveryTiming } from "./webhooks/timing.ts";

/** The merchants' endpoints, with their long polls and other parts that a stop must end. */
export interface MerchantSurface {
  endpoints: Endpoint[];
  /** Number of waiting long polls. */
  listening(): number;
  /** Ends long polls. */
  stopListening(): void;
  close(): Promise<void>;
}

/** The endpoints under /v1. */
export function merchantSurface(
  { config, database, vault, clock }: Foundation,
  rooms: Rooms,
  timing: DeliveryTiming | undefined,
): MerchantSurface {
  const { directory, router, payments, paymentOperations, clocks, payers, outlooks } = rooms;
  const { webhookHeaderPrefix: headerPrefix, serviceName } = config;
  const exemptions = exemptionsOf(config.webhookAllowHosts, config.webhookAllowNetworks);
  const examiner = new Examiner(
    new Sender({ clock, prefix: headerPrefix, serviceName, exemptions, timing }),
    clock,
    timing?.deadlineMs,
  );
  const listening = new Listening({ database, directory, clock, headerPrefix, serviceName });
  const endpoints: Endpoint[] = [
    ...paymentEndpoints({
      ...payments,
      database,
      payers,
      acquiring: paymentOperations,
      checkCallbackUrl: callbackUrlCheck(exemptions),
      estimatePayouts: (owner, waiting) => outlooks.estimate(owner, waiting),
    }),
    ...linkEndpoints({ ...payments, database, clock, linkUrl: (name) => rooms.address.root + linkPath(name) }),
    ...balanceEndpoints(database, clock),
    ...disputeEndpoints(database),
    ...settlementEndpoints(database),
    ...refundEndpoints({ database, acquirer: (code) => router.acquirer(code), planRefund }),
    ...eventEndpoints(database),
    ...sandboxEndpoints({ ...payments, database, clock, clocks }),
    triggerEndpoint(),
    ...faultInjectionEndpoints(database, timing?.faultRefreshMs),
    examEndpoint({ examiner, database }),
    ...doctorEndpoints({ database, vault, clock, headerPrefix }),
    ...loggedRequestEndpoints(database),
    ...listening.endpoints(),
  ];
  return {
    endpoints,
    listening: () => listening.waiting,
    stopListening: () => listening.stop(),
    close: () => examiner.close(),
  };
}

interface OperatorSurfaceParts {
  audit: Audit;
  refusals: Refusals;
  tokens: OperatorTokens;
  approvals: Approvals;
  streams: OperatorStreams;
  replays: BookReplays;
}

/** The endpoints under /ops/v1. */
export function operatorSurface(
  { config, database, clock, watch, vault, skewMs }: Foundation,
  rooms: Rooms,
  { audit, refusals, tokens, approvals, streams, replays }: OperatorSurfaceParts,
): OperatorEndpoint[] {
  const { directory, router, lanes, payments, payers, people, address, figures, sampler } = rooms;
  const { consolePeople, consoleAddress, outlooks } = rooms;
  const merchants = new Merchants(database, vault, watch, clock);
  const moves = new KeyedMoves({ database, lanes, clock });
  const acquirer = (code: string) => router.acquirer(code);
  const records: PaymentRecordParts = {
    database,
    payers,
    directory,
    audit,
    acquirer,
    estimatePayouts: (owner, waiting) => outlooks.estimate(owner, waiting),
  };
  const costs = new AcquirerCosts(database, clock);
  const ruleSets = new RuleSets(database, watch, clock);
  return [
    ...merchantEndpoints({
      merchants,
      directory,
      lanes,
      database,
      checkWebhookUrl: webhookUrlCheck(config),
      people,
      invitationPage: () => invitationPage(address.root),
    }),
    ...acquirerEndpoints(router, clock),
    acquirerHealthEndpoint(router, database, clock),
    ...acquirerCostEndpoints(router, costs),
    acquirerStraysEndpoint(router, database),
    ...routingEndpoints({ ruleSets, router }),
    ...splitEndpoints({ database, ruleSets, router, costs }),
    whatIfEndpoint(router, new WhatIfs(database, router, costs, clock)),
    ...operatorPaymentEndpoints({ database, directory, moves, records, acquirer }),
    paymentAtAcquirerEndpoint({ database, acquirer }),
    ...reviewEndpoints({ database, directory, moves, payments, payers, records, figures, approvals }),
    operatorSearchEndpoint({ database, payers, gatewayCodes: () => router.codes() }),
    ...statementEndpoints(database, directory),
    ...trialBalanceEndpoints(database),
    waitingEndpoint({ database, lanes, clock }),
    ...wallEndpoints({ wall: new Wall({ database, lanes, clock }), streams, router }),
    systemEndpoint({ database, clock, config, skewMs, processId: sampler.own.processId }),
    ...waitingItemEndpoints({ database, directory, records, approvals }),
    ...approvalEndpoints(approvals),
    ...operatorSettlementEndpoints({ database, directory, moves }),
    ...settlementCalendarEndpoints(database, clock),
    ...bookEndpoints(database, directory),
    ...bookVerificationEndpoints(directory, replays),
    operatorPayerEndpoint({ database, directory, lanes, payers }),
    ...operatorDisputeEndpoints({ database, directory, lanes, moves }),
    ...receiptEndpoints(database, directory, moves),
    ...exceptionEndpoints(database, lanes),
    ...operatorRefundEndpoints(database),
    ...outcomeEndpoints({ ...rooms.acquiringParts, moves, approvals }),
    ...operatorEventEndpoints({ database, directory, lanes }),
    ...webhookEndpoints(merchants, () => clock.now()),
    ...incidentEndpoints({
      incidents: new Incidents(database, clock),
      clock,
      status: statusParts(config, rooms),
      publicUrl: () => address.statusUrl,
    }),
    ...tokenEndpoints(tokens, clock),
    ...operatorPeopleEndpoints({
      operators: consolePeople.operators,
      invitationPage: () => consoleInvitationPage(consoleAddress),
    }),
    ...auditEndpoints(audit, refusals),
  ];
}

/** The endpoints under /ops/v1 with which people sign in to the console. */
export function consoleAccess(foundation: Foundation, rooms: Rooms): AccessEndpoint[] {
  const access = accessParts(foundation, rooms, "console");
  const { serviceName } = foundation.config;
  return [...accessEndpoints(access), ...operatorInvitationAccess({ ...access, serviceName })];
}

/** The parts of the endpoints for signing in to a surface. */
function accessParts({ config }: Foundation, rooms: Rooms, surface: Surface): SessionEndpointParts {
  const service: ServiceView = {
    name: config.serviceName,
    baseUrl: () => `${rooms.address.root}/v1`,
    webhookHeaderPrefix: config.webhookHeaderPrefix,
    productionOpen: () => rooms.payments.isOpen("production"),
    secondFactorRequired: config.mode === "production",
  };
  const isPortal = surface === "portal";
  const people = isPortal ? rooms.people : rooms.consolePeople;
  const rights = isPortal
    ? (personId: string) => rightsInPortal(people, personId)
    : (personId: string) => rightsInConsole(people.operators, personId);
  return { people, views: new SessionViews({ people, service, rights }), root: isPortal ? "/portal/v1" : "/ops/v1" };
}

function accessEndpoints(parts: SessionEndpointParts): AccessEndpoint[] {
  return [...sessionEndpoints(parts), ...personEndpoints(parts), ...passkeyEndpoints(parts)];
}

/** The endpoints under /portal/v1 that only the portal's pages use. */
export function portalSurface(foundation: Foundation, rooms: Rooms, audit: PeopleAudit): PortalEndpoint[] {
  const { config, clock, log, database } = foundation;
  const { people, directory, address, merchants, lastUses, lanes, outlooks, evidenceFiles: files } = rooms;
  const access = accessParts(foundation, rooms, "portal");
  const acquirer = (code: string) => rooms.router.acquirer(code);
  return [
    ...accessEndpoints(access),
    ...invitationEndpoints({ ...access, directory }),
    ...requestEndpoints({ database, requestLog: config.requestLog }),
    ...idempotencyEndpoints({ database }),
    ...settingsEndpoints({ profiles: rooms.profiles }),
    ...workbenchEndpoints({ database, clock }),
    ...teamEndpoints({
      people,
      audit,
      invitationPage: () => invitationPage(address.root),
      serviceName: config.serviceName,
      mail: config.mail && new Mail({ ...config.mail, log }),
    }),
    ...insightsEndpoints({ figures: rooms.figures, streams: rooms.streams, outlooks }),
    ...keyEndpoints({ database, credentials: merchants.credentials, lastUses, clock }),
    ...deviceEndpoints({
      devices: new DeviceCodes({ database, clock, credentials: merchants.credentials }),
      directory,
      baseUrl: () => `${address.root}/v1`,
      portalUrl: () => `${portalRoot(address.root)}/portal`,
    }),
    ...bookPagesEndpoints(database),
    ...searchEndpoints({
      database,
      payers: rooms.payers,
      acquirer,
      estimatePayouts: (owner, waiting) => outlooks.estimate(owner, waiting),
    }),
    paymentOfMemberAtAcquirerEndpoint({ database, acquirer }),
    ...webhookSettingsEndpoints({ merchants, database, clock, checkWebhookUrl: webhookUrlCheck(config) }),
    ...deliveryEndpoints(database),
    ...evidenceEndpoints({ database, lanes, files }),
    payerEndpoint({ database, lanes, payers: rooms.payers }),
  ];
}

/** Address of the console's invitation page; undefined where there is no console. */
function consoleInvitationPage({ root }: ConsoleAddress): string | undefined {
  return root === undefined ? undefined : invitationPage(root, "console");
}

/** Gives the normalized address. Throws VALIDATION_ERROR for an address to which webhooks must not be sent. */
function checkUrl(field: string, url: string, exemptions: Exemptions): string {
  const objection = objectionTo(url, exemptions);
  if (objection !== undefined) throw validationFault(field, url, objection);
  return normalized(url);
}

/** The same check for registrations, which also looks the host name up. */
function webhookUrlCheck(config: Config): (url: string) => Promise<string> {
  const exemptions = exemptionsOf(config.webhookAllowHosts, config.webhookAllowNetworks);
  return async (url) => {
    const kept = checkUrl("url", url, exemptions);
    await checkResolved(kept, exemptions);
    return kept;
  };
}

function callbackUrlCheck(exemptions: Exemptions): (url: string, merchantId: string) => Promise<string> {
  const names = new HostNames(exemptions);
  return async (url, merchantId) => {
    const kept = checkUrl("callback_url", url, exemptions);
    if (await names.isForbidden(bareHost(new URL(kept).hostname), merchantId))
      throw validationFault("callback_url", url, NOT_PUBLIC);
    return kept;
  };
}

/** Refuses a name that resolves to an address that is not public at its registration instead of at the first event. */
async function checkResolved(url: string, exemptions: Exemptions): Promise<void> {
  try {
    await vet(bareHost(new URL(url).hostname), exemptions);
  } catch (error) {
    // A name that cannot be looked up now may exist later, and each attempt looks it up again.
    if (error instanceof ForbiddenAddress) throw validationFault("url", url, NOT_PUBLIC);
  }
}
