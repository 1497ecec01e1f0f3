// Endpoints of acquirers' fees, as operators state them. What-ifs and split tests calculate costs from these.
import { z } from "zod";
import { wholeBetween } from "../ground/whole.ts";
import { wireTime } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { MINOR_MAX, isCurrency, wireAmount } from "../ground/money.ts";
import { reply } from "../ground/reply.ts";
import { exampleTimes } from "../http/examples.ts";
import { timestamp } from "../http/shapes.ts";
import { paymentMethodSchema } from "../merchants/settings.ts";
import type { AcquirerCosts } from "../routing/costs.ts";
import type { AcquirerCost } from "../routing/costs.sql.ts";
import type { Router } from "../routing/router.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { acquirerParams } from "./params.ts";

const shared = {
  path: "/ops/v1/acquirers/{gateway_code}/costs",
  params: acquirerParams,
  tag: "Acquirers",
} as const;
const minor = z.int().min(0).max(Number(MINOR_MAX));
const exampleCost = { payment_method: "qris" as const, currency: "IDR", basis_points: 40, flat_minor: 0 };

const costFields = {
  payment_method: paymentMethodSchema,
  currency: z
    .string()
    .refine(isCurrency, "is not a currency of ISO 4217")
    .meta({ pattern: "^[A-Z]{3}$", examples: ["IDR"] }),
  basis_points: wholeBetween(0, 10_000).meta({
    description: "Of the amount: 100 are 1 %. Rounded half up.",
    examples: [40],
  }),
  flat_minor: minor.meta({ description: "Added to it for each payment.", examples: [0] }),
};
const costSchema = z
  .strictObject({
    ...costFields,
    minimum_minor: minor.optional().meta({ description: "No less than this." }),
    maximum_minor: minor.optional().meta({ description: "No more than this." }),
  })
  .meta({ id: "StatedCost", examples: [exampleCost] });
const putCostsSchema = z
  .strictObject({ costs: z.array(costSchema).max(500) })
  .superRefine(({ costs }, context) => {
    const seen = new Set<string>();
    for (const [at, cost] of costs.entries()) {
      const { payment_method: method, currency, minimum_minor: least, maximum_minor: most } = cost;
      const issue = (field: string, message: string): void =>
        context.addIssue({ code: "custom", path: ["costs", at, field], message });
      if (least !== undefined && most !== undefined && least > most) issue("maximum_minor", "is below the minimum");
      if (seen.has(`${method} ${currency}`)) issue("currency", "is stated for this method already");
      seen.add(`${method} ${currency}`);
    }
  })
  .meta({ id: "PutAcquirerCosts", examples: [{ costs: [exampleCost] }] });

const statedSchema = z
  .strictObject({
    ...costFields,
    currency: z.string().meta({ examples: ["IDR"] }),
    minimum_minor: minor.nullable(),
    maximum_minor: minor.nullable(),
    set_at: timestamp,
    set_by: z.string().meta({ description: "Who stated it.", examples: ["sari"] }),
  })
  .meta({ id: "AcquirerCostRule", description: "What an acquirer charges for a payment that is paid." });
const exampleStated = {
  ...exampleCost,
  minimum_minor: null,
  maximum_minor: null,
  set_at: exampleTimes.created,
  set_by: "sari",
};
const costsSchema = z
  .strictObject({
    gateway_code: z.string().meta({ examples: ["nusantara"] }),
    costs: z
      .array(statedSchema)
      .meta({ description: "Of methods and currencies that are not here nobody stated any." }),
  })
  .meta({ id: "AcquirerCosts", examples: [{ gateway_code: "nusantara", costs: [exampleStated] }] });

export function acquirerCostEndpoints(router: Router, acquirerCosts: AcquirerCosts): OperatorEndpoint[] {
  const known = (code: string | undefined): string => {
    if (code === undefined || !router.acquirer(code)) throw new Fault("OBJECT_NOT_FOUND");
    return code;
  };
  return [
    operatorEndpoint({
      ...shared,
      method: "GET",
      operationId: "getAcquirerCosts",
      summary: "Read what an acquirer charges",
      role: "viewer",
      success: { description: "All that is stated.", schema: costsSchema },
      async handle({ params }) {
        const code = known(params.gateway_code);
        return reply(200, view(code, await acquirerCosts.read(code)));
      },
    }),
    operatorEndpoint({
      ...shared,
      method: "PUT",
      operationId: "putAcquirerCosts",
      summary: "State what an acquirer charges, in place of all that was stated before",
      role: "admin",
      body: putCostsSchema,
      success: { description: "All that is stated now.", schema: costsSchema },
      async handle({ params, body, operator }) {
        const code = known(params.gateway_code);
        const stated = body.costs.map((cost) => ({
          method: cost.payment_method,
          currency: cost.currency,
          rule: {
            basisPoints: cost.basis_points,
            flatMinor: BigInt(cost.flat_minor),
            minimumMinor: cost.minimum_minor === undefined ? undefined : BigInt(cost.minimum_minor),
            maximumMinor: cost.maximum_minor === undefined ? undefined : BigInt(cost.maximum_minor),
          },
        }));
        return reply(200, view(code, await acquirerCosts.put(code, stated, operator.name)));
      },
    }),
  ];
}

function view(code: string, costs: readonly AcquirerCost[]): z.infer<typeof costsSchema> {
  return {
    gateway_code: code,
    costs: costs.map(({ method, currency, rule, setAt, setBy }) => ({
      payment_method: method,
      currency,
      basis_points: rule.basisPoints,
      flat_minor: wireAmount(rule.flatMinor),
      minimum_minor: rule.minimumMinor === undefined ? null : wireAmount(rule.minimumMinor),
      maximum_minor: rule.maximumMinor === undefined ? null : wireAmount(rule.maximumMinor),
      set_at: wireTime(setAt),
      set_by: setBy,
    })),
  };
}
