// The roles of a team in a sentence each. The service decides what they allow; these sentences say it.

export const roles = ["owner", "developer", "finance", "support", "viewer"] as const;
export type Role = (typeof roles)[number];

export const meaningOf: Record<Role, string> = {
  owner: "Can do everything, and is the only role that can change the team and the settings.",
  developer:
    "In the sandbox: everything but the team and the settings. In production: makes keys, sets webhooks, and reads payments with their payers, refunds, disputes, events and requests. Cannot move money or see balances there.",
  finance:
    "Refunds payments and answers disputes; reads payments, balances and settlements. Creates no payments and sees no keys.",
  support:
    "Creates, cancels and refunds payments, and answers disputes; reads events and requests. Sees no balances and no keys.",
  viewer: "Reads payments with their payers, refunds, disputes, balances, settlements and events. Changes nothing.",
};
