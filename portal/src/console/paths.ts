// The site map of the console: every address of its pages, written once. Those of the account and of signing in are the portal's.
const part = (text: string): string => encodeURIComponent(text);

/** Addresses within /console, which the router puts in front. */
export const at = {
  home: () => "/",
  waiting: () => "/waiting",
  waitingFor: (kind: string) => `/waiting?kind=${part(kind)}`,
  review: (reference: string) => `/reviews/${part(reference)}`,
  receipt: (uuid: string) => `/receipts/${part(uuid)}`,
  exception: (uuid: string) => `/exceptions/${part(uuid)}`,
  dispute: (merchant: string, environment: string, uuid: string) =>
    `/merchants/${part(merchant)}/${environment}/disputes/${part(uuid)}`,
  disputes: (id: string, environment: string) => `/merchants/${part(id)}/${part(environment)}/disputes`,
  payout: (merchant: string, environment: string, uuid: string) =>
    `/merchants/${part(merchant)}/${environment}/settlements/${part(uuid)}/payout`,
  approvals: () => "/approvals",
  approval: (uuid: string) => `/approvals/${part(uuid)}`,
  approvalPolicy: () => "/approvals/policy",
  payments: () => "/payments",
  payment: (reference: string) => `/payments/${part(reference)}`,
  refunds: () => "/refunds",
  refund: (uuid: string) => `/refunds/${part(uuid)}`,
  merchants: () => "/merchants",
  merchant: (id: string) => `/merchants/${part(id)}`,
  access: (id: string) => `/merchants/${part(id)}?tab=access`,
  key: (id: string, clientId: string) => `/merchants/${part(id)}/credentials/${part(clientId)}`,
  calendar: (environment?: string) =>
    environment === undefined || environment === "production"
      ? "/settlements"
      : `/settlements?environment=${part(environment)}`,
  payouts: (day: string, environment: string) =>
    `/settlements/${part(day)}${environment === "production" ? "" : `?environment=${part(environment)}`}`,
  settlements: (id: string, environment: string) => `/merchants/${part(id)}/${part(environment)}/settlements`,
  settlement: (id: string, environment: string, uuid: string) =>
    `/merchants/${part(id)}/${part(environment)}/settlements/${part(uuid)}`,
  ledger: (id: string, environment: string) => `/merchants/${part(id)}/${part(environment)}/ledger`,
  entries: (id: string, environment: string, currency: string, account: string) =>
    `/merchants/${part(id)}/${part(environment)}/ledger/${part(currency)}?account=${part(account)}`,
  statement: (id: string, environment: string, currency: string, account: string) =>
    `/merchants/${part(id)}/${part(environment)}/ledger/${part(currency)}/statement?account=${part(account)}`,
  trialBalance: (environment = "production", days?: { from: string; to: string }) => {
    const search = { ...(environment === "production" ? {} : { environment }), ...days };
    return `/trial-balance${days || search.environment ? `?${new URLSearchParams(search).toString()}` : ""}`;
  },
  events: (id: string, environment: string) => `/merchants/${part(id)}/${part(environment)}/events`,
  undelivered: (id: string, environment: string) =>
    `/merchants/${part(id)}/${part(environment)}/events?delivery=undelivered`,
  event: (id: string, environment: string, event: string) =>
    `/merchants/${part(id)}/${part(environment)}/events/${part(event)}`,
  wall: () => "/wall",
  wallScreen: () => "/wall/screen",
  system: () => "/system",
  routing: () => "/routing",
  routingVersions: () => "/routing?tab=versions",
  routingTests: () => "/routing?tab=tests",
  acquirers: (period?: string) =>
    period === undefined || period === "hour" ? "/acquirers" : `/acquirers?period=${part(period)}`,
  acquirer: (code: string, period?: string) =>
    `/acquirers/${part(code)}${period === undefined || period === "hour" ? "" : `?period=${part(period)}`}`,
  status: () => "/status",
  operators: () => "/operators",
  tokens: () => "/tokens",
  audit: () => "/audit",
  rejectedCalls: () => "/audit/rejected",
  auditOf: (actor: string) => `/audit?actor=${part(actor)}`,
  auditOfMerchant: (id: string) => `/audit?merchant_id=${part(id)}`,
};
