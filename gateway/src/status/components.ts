// The components of the status page: the API, each payment method, webhooks and settlements. Pure.
import { type PaymentMethod, paymentMethods } from "../merchants/settings.ts";

export const components = ["api", ...paymentMethods, "webhooks", "settlements"] as const;
export type Component = (typeof components)[number];

/** The kinds of components; each kind has its own thresholds. */
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
