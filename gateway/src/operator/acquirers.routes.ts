// Acquirers and the operator's switches for them.
import { z } from "zod";
import type { Clock } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { reply } from "../ground/reply.ts";
import { environments } from "../merchants/books.ts";
import { paymentMethods } from "../merchants/settings.ts";
import type { Router } from "../routing/router.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";

const health = z.enum(["healthy", "degraded", "down"]);
const setAcquirerSchema = z.strictObject({ enabled: z.boolean().optional(), health: health.optional() });
const acquirerSchema = z.strictObject({
  gateway_code: z.string(),
  name: z.string(),
  environment: z.enum(environments),
  enabled: z.boolean(),
  health,
  methods: z.array(z.enum(paymentMethods)),
  circuits: z
    .array(
      z.strictObject({
        payment_method: z.string(),
        state: z.enum(["closed", "open", "probing"]),
        calls: z.int(),
        failures: z.int(),
      }),
    )
    .meta({ description: "How its latest calls went, as this process saw them; none for one that is not called." }),
  rules_version: z.int(),
});

export function acquirerEndpoints(router: Router, clock: Clock): OperatorEndpoint[] {
  return [
    operatorEndpoint({
      method: "GET",
      path: "/ops/v1/acquirers",
      summary: "List the acquirers and their state",
      tag: "Acquirers",
      role: "viewer",
      success: {
        status: 200,
        description: "All acquirers.",
        schema: z.strictObject({ data: z.array(acquirerSchema) }),
      },
      errors: [],
      handle: () => Promise.resolve(reply(200, { data: acquirersOf(router, clock) })),
    }),
    operatorEndpoint({
      method: "PATCH",
      path: "/ops/v1/acquirers/{gateway_code}",
      summary: "Switch an acquirer on or off, or state its health",
      tag: "Acquirers",
      role: "admin",
      body: setAcquirerSchema,
      success: { status: 200, description: "The acquirer after the change.", schema: acquirerSchema },
      errors: ["OBJECT_NOT_FOUND"],
      async handle({ params, body }) {
        const { gateway_code: code = "" } = params;
        if (!(await router.setState(code, body))) throw new Fault("OBJECT_NOT_FOUND");
        return reply(
          200,
          acquirersOf(router, clock).find((acquirer) => acquirer.gateway_code === code),
        );
      },
    }),
  ];
}

function acquirersOf(router: Router, clock: Clock): z.infer<typeof acquirerSchema>[] {
  const { acquirers, states, version } = router.table;
  const circuits = router.circuits.report(clock.now());
  return acquirers.map((acquirer) => {
    const { enabled, health } = states.get(acquirer.code) ?? { enabled: true, health: "healthy" };
    return {
      gateway_code: acquirer.code,
      name: acquirer.name,
      environment: acquirer.environment,
      enabled,
      health,
      methods: [...new Set(acquirer.capabilities.map((capability) => capability.method))],
      circuits: circuits
        .filter(({ gatewayCode }) => gatewayCode === acquirer.code)
        .map(({ method, state, calls, failures }) => ({ payment_method: method, state, calls, failures })),
      rules_version: version,
    };
  });
}
