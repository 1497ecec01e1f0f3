// The plan that soak/main.ts passes to the campaigns.
export const names = ["model", "at-once", "deliveries", "faults", "cancel"] as const;
export type Name = (typeof names)[number];

export interface Plan {
  /** Minutes for each campaign. */
  minutes: number;
  /** The first seed; each further seed is one more. */
  seed: number;
  only?: Name;
}

declare module "vitest" {
  interface ProvidedContext {
    plan: Plan;
  }
}
