// The site map of the console: every address of its pages, written once. Those of the account and of signing in are the portal's.
const part = (text: string): string => encodeURIComponent(text);

/** Addresses within /console, which the router puts in front. */
export const at = {
  home: () => "/",
  payments: () => "/payments",
  payment: (reference: string) => `/payments/${part(reference)}`,
  refunds: () => "/refunds",
  refund: (uuid: string) => `/refunds/${part(uuid)}`,
  operators: () => "/operators",
  tokens: () => "/tokens",
  audit: () => "/audit",
  auditOf: (actor: string) => `/audit?actor=${part(actor)}`,
};
