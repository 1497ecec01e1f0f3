// The site map of the console: every address of its pages, written once. Those of the account and of signing in are the portal's.
const part = (text: string): string => encodeURIComponent(text);

/** Addresses within /console, which the router puts in front. */
export const at = {
  home: () => "/",
  wall: () => "/wall",
  wallScreen: () => "/wall/screen",
  system: () => "/system",
  routing: () => "/routing",
  routingVersions: () => "/routing?tab=versions",
  routingTests: () => "/routing?tab=tests",
  acquirers: () => "/acquirers",
  status: () => "/status",
  operators: () => "/operators",
  tokens: () => "/tokens",
  audit: () => "/audit",
  auditOf: (actor: string) => `/audit?actor=${part(actor)}`,
};
