// The components that the status page speaks of: the API, each method of payment, webhooks and settlements. Pure.
import { type PaymentMethod, paymentMethods } from "../merchants/settings.ts";

export const components = ["api", ...paymentMethods, "webhooks", "settlements"] as const;
export type Component = (typeof components)[number];

/** What a component is, as far as its thresholds are concerned. */
export type ComponentKind = "api" | "method" | "webhooks" | "settlements";

const methods: ReadonlySet<string> = new Set(paymentMethods);

export function isMethod(component: Component): component is PaymentMethod {
  return methods.has(component);
}

export function kindOf(component: Component): ComponentKind {
  return component === "api" || component === "webhooks" || component === "settlements" ? component : "method";
}

export function isComponent(text: string): text is Component {
  return (components as readonly string[]).includes(text);
}
