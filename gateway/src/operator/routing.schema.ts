// The JSON schemas of routing rules: versions, errors in a draft, and the history of activations.
import { z } from "zod";
import { wireTime, wireTimeOrNull } from "../ground/clock.ts";
import { exampleTimes } from "../http/examples.ts";
import { count, positive, text, textOrNull, timestamp, withExample, exampleOf } from "../http/shapes.ts";
import type { Objection, RoutingFault } from "../routing/objections.ts";
import { routingRuleSchema } from "../routing/routing.ts";
import type { Activation, RuleSet, RuleSetSummary } from "../routing/rules.sql.ts";

export const exampleRules = [
  { gateway_code: "nusantara", payment_method: "qris" as const, priority: 10, weight: 100 },
  { gateway_code: "cendana", priority: 50, weight: 100 },
];

const versionNumber = positive(3);
const who = textOrNull("sari", "Null: the installation.");

export const noteField = text(1, 200)
  .optional()
  .meta({ description: "Why, for whoever reads the versions later.", examples: ["Cendana is cheaper for QRIS"] });

export const summarySchema = withExample(
  z.strictObject({
    version: versionNumber,
    active: z.boolean().meta({ description: "True for the one that decides." }),
    status: z
      .enum(["draft", "active", "retired"])
      .meta({ description: "A draft never decided; what is retired did, and decides no more." }),
    created_at: timestamp,
    created_by: who,
    note: z.string().nullable(),
    restores: versionNumber.nullable().meta({ description: "The earlier version whose rules it has again." }),
    activated_at: timestamp.nullable().meta({ description: "The last time that it was activated." }),
    activated_by: who,
    rule_count: count(2),
  }),
  { id: "RoutingRuleSetSummary" },
  { active: true, status: "active", note: "Cendana is cheaper for QRIS", activated_at: exampleTimes.created },
);

const faultSchema = z
  .strictObject({
    rule: z.int().min(0).nullable().meta({ description: "The rule by its place, from 0; null: the rules as a whole." }),
    field: textOrNull("split.percent", "The field of it; null: the rule as a whole."),
    message: z.string().meta({ examples: ["is not the code of an acquirer"] }),
  })
  .meta({
    id: "RoutingFault",
    description: "What is wrong, and where.",
    examples: [{ rule: 0, field: "gateway_code", message: "is not the code of an acquirer" }],
  });

export const ruleSetSchema = summarySchema
  .extend({
    rules: z.array(routingRuleSchema),
    faults: z.array(faultSchema).meta({
      description: "What is wrong with them by the acquirers of today; they were right when they were stored.",
    }),
  })
  .meta({
    id: "RoutingRuleSet",
    description: "A version of the routing rules.",
    examples: [{ ...exampleOf(summarySchema), rules: exampleRules, faults: [] }],
  });

export const validateSchema = z
  .strictObject({
    rules: z.array(z.unknown()).max(500).meta({ description: "Rules as they would be stored, right or wrong." }),
  })
  .meta({ id: "ValidateRoutingRules", examples: [{ rules: exampleRules }] });

export const validationSchema = z
  .strictObject({
    valid: z.boolean().meta({ description: "True when they can be stored." }),
    faults: z.array(faultSchema).meta({ description: "All that is wrong with them; 100 at most." }),
  })
  .meta({ id: "RoutingValidation", examples: [{ valid: true, faults: [] }] });

export const activationSchema = withExample(
  z.strictObject({
    activation: versionNumber.meta({ description: "Counted from the first." }),
    version: versionNumber,
    activated_at: timestamp,
    activated_by: who,
  }),
  { id: "RoutingActivation", description: "From when on a version decided, until the next activation." },
  { activation: 2 },
);

export const rollBackSchema = z
  .strictObject({ note: noteField })
  .meta({ id: "RollBackRoutingRules", examples: [{ note: "Cendana declines too much" }] });

/** Adds an issue for each objection, at its place in the body's `rules`. */
export function refuseObjections(objections: readonly Objection[], context: z.core.$RefinementCtx): void {
  for (const { at, field, message } of objections) {
    context.addIssue({ code: "custom", path: ["rules", at, ...(field ? field.split(".") : [])], message });
  }
}

export function summaryView(ruleSet: RuleSetSummary): z.infer<typeof summarySchema> {
  const { version, status, createdAt, createdBy, note, restores, activatedAt, activatedBy, ruleCount } = ruleSet;
  return {
    version,
    active: status === "active",
    status,
    created_at: wireTime(createdAt),
    created_by: createdBy ?? null,
    note: note ?? null,
    restores: restores ?? null,
    activated_at: wireTimeOrNull(activatedAt),
    activated_by: activatedBy ?? null,
    rule_count: ruleCount,
  };
}

export function ruleSetView(ruleSet: RuleSet, faults: readonly RoutingFault[]): z.infer<typeof ruleSetSchema> {
  return { ...summaryView(ruleSet), rules: ruleSet.rules, faults: faults.map(faultView) };
}

export function faultView({ at, field, message }: RoutingFault): z.infer<typeof faultSchema> {
  return { rule: at ?? null, field: field ?? null, message };
}

export function activationView({ activation, version, at, by }: Activation): z.infer<typeof activationSchema> {
  return { activation, version, activated_at: wireTime(at), activated_by: by ?? null };
}
