// The roles of a team in a sentence each. The service decides what they allow; these sentences say it.

export const roles = ["owner", "developer", "finance", "support", "viewer"] as const;
export type Role = (typeof roles)[number];

export const meaningOf: Record<Role, string> = {
  owner: "Can do everything, and is the only role that can change the team and the settings.",
  developer:
    "Can do everything in the sandbox. In production: keys, webhooks and the request log. Cannot move money or see balances there.",
  finance: "Balances, settlements, refunds and disputes. Creates no payments and sees no keys.",
  support: "Payments, refunds, disputes and the request log. Sees no balances and no keys.",
  viewer: "Reads payments, balances and events. Changes nothing.",
};
