// Which answers an event makes out of date, by the prefixes of their API paths.

/** What shows the ledger: every event of the four nouns may come with a journal. */
const ledger = ["/v1/balances", "/v1/accounts", "/v1/journals", "/v1/statements"];

/** By the noun of the event's type. */
const byNoun: { readonly [noun: string]: readonly string[] } = {
  payment: ["/v1/payments", "/v1/payment-links", ...ledger],
  refund: ["/v1/refunds", "/v1/payments", ...ledger],
  // The objects in a batch name it.
  settlement: ["/v1/settlements", "/v1/payments", "/v1/refunds", "/v1/disputes", ...ledger],
  dispute: ["/v1/disputes", "/v1/payments", ...ledger],
};
const byAny = ["/v1/overview", "/v1/insights", "/v1/events", "/v1/deliveries", "/v1/webhook", "/v1/sandbox/clock/due"];

/** The prefixes to refetch after an event with this noun. An empty noun stands for events that may have been missed: everything is out of date. */
export function outdatedBy(noun: string): readonly string[] {
  return noun === "" ? [""] : [...(byNoun[noun] ?? []), ...byAny];
}
