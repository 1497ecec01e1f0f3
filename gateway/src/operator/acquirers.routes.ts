// Endpoints of acquirers, and of the operators' switches for them.
import { z } from "zod";
import type { Clock } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { reply } from "../ground/reply.ts";
import { count, environmentField, withExample } from "../http/shapes.ts";
import { paymentMethodSchema } from "../merchants/settings.ts";
import type { Router } from "../routing/router.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { acquirerParams } from "./params.ts";

const health = z.enum(["healthy", "degraded", "down"]).meta({
  id: "AcquirerHealth",
  description: "As it is stated here. `degraded` comes after healthy ones, `down` is not asked.",
});
const setAcquirerSchema = z
  .strictObject({ enabled: z.boolean().optional(), health: health.optional() })
  .meta({ id: "UpdateAcquirer", examples: [{ health: "degraded" }] });
const exampleCircuit = { payment_method: "qris", state: "closed" as const, calls: 20, failures: 0 };
const circuitSchema = z
  .strictObject({
    payment_method: z.string().meta({ examples: ["qris"] }),
    state: z.enum(["closed", "open", "probing"]).meta({ description: "`open`: not asked for a while." }),
    calls: count(20, "Latest calls that are counted."),
    failures: count(0, "Those of them that failed."),
  })
  .meta({ id: "Circuit", description: "How the latest calls for one method went." });
const acquirerSchema = withExample(
  z.strictObject({
    gateway_code: z.string().meta({ examples: ["nusantara"] }),
    name: z.string().meta({ examples: ["Nusantara QR"] }),
    environment: environmentField,
    enabled: z.boolean().meta({ description: "False: it takes no new payments." }),
    health,
    methods: z.array(paymentMethodSchema),
    circuits: z
      .array(circuitSchema)
      .meta({ description: "How its latest calls went, as this process saw them; none for one that is not called." }),
    rules_version: count(3, "The version of the routing rules that decides."),
  }),
  { id: "Acquirer" },
  { enabled: true, methods: ["qris", "va"], circuits: [exampleCircuit] },
);
const acquirersSchema = withExample(z.strictObject({ data: z.array(acquirerSchema) }), { id: "Acquirers" });

export function acquirerEndpoints(router: Router, clock: Clock): OperatorEndpoint[] {
  const find = (code: string | undefined) => acquirersOf(router, clock).find((one) => one.gateway_code === code);
  return [
    operatorEndpoint({
      method: "GET",
      operationId: "listAcquirers",
      path: "/ops/v1/acquirers",
      summary: "List the acquirers and their state",
      tag: "Acquirers",
      role: "viewer",
      success: { description: "All acquirers.", schema: acquirersSchema },
      handle: () => Promise.resolve(reply(200, { data: acquirersOf(router, clock) })),
    }),
    operatorEndpoint({
      method: "PATCH",
      operationId: "updateAcquirer",
      path: "/ops/v1/acquirers/{gateway_code}",
      params: acquirerParams,
      summary: "Switch an acquirer on or off, or state its health",
      tag: "Acquirers",
      role: "admin",
      body: setAcquirerSchema,
      success: { description: "The acquirer after the change.", schema: acquirerSchema },
      approval: {
        action: "enable_acquirer",
        async foresee({ params, body }) {
          // What another process has just stated counts: better than that, not than what this process still remembers.
          await router.refresh();
          const now = find(params.gateway_code);
          if (!now) throw new Fault("OBJECT_NOT_FOUND");
          const isBetter = body.health !== undefined && isWorse(now.health, body.health);
          // One operator alone can switch off a failing acquirer, without delay.
          if (body.enabled !== true && !isBetter) return undefined;
          const words = [
            ...(body.enabled === undefined ? [] : [body.enabled ? "switch it on" : "switch it off"]),
            ...(body.health === undefined ? [] : [`state that it is ${body.health}`]),
          ];
          return { summary: `Acquirer ${now.gateway_code}: ${words.join(", ")}` };
        },
        async lookUp({ params, body }) {
          const now = find(params.gateway_code);
          const isDone =
            now && (body.enabled ?? now.enabled) === now.enabled && (body.health ?? now.health) === now.health;
          return isDone ? reply(200, now) : undefined;
        },
      },
      async handle({ params, body }) {
        const { gateway_code: code = "" } = params;
        const now = (await router.setState(code, body)) ? find(code) : undefined;
        if (!now) throw new Fault("OBJECT_NOT_FOUND");
        return reply(200, now);
      },
    }),
  ];
}

const isWorse = (one: z.infer<typeof health>, than: z.infer<typeof health>): boolean =>
  health.options.indexOf(one) > health.options.indexOf(than);

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
