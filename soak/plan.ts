// What soak/main.ts tells the campaigns.
export const names = ["model", "at-once", "deliveries", "faults", "cancel"] as const;
export type Name = (typeof names)[number];

export interface Plan {
  /** For each campaign. */
  minutes: number;
  /** The first one; the others follow, one more each. */
  seed: number;
  only?: Name;
}

declare module "vitest" {
  interface ProvidedContext {
    plan: Plan;
  }
}
