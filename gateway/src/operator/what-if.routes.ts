// The what-if endpoint: evaluates routing rules against payments of the last days.
import { z } from "zod";
import { reply } from "../ground/reply.ts";
import { objectionsTo } from "../routing/objections.ts";
import type { Router } from "../routing/router.ts";
import { routingRulesSchema } from "../routing/routing.ts";
import type { WhatIfs } from "../routing/what-ifs.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { exampleRules, refuseObjections } from "./routing.schema.ts";
import { whatIfFields, whatIfSchema, whatIfView } from "./what-if.schema.ts";

export function whatIfEndpoint(router: Router, whatIfs: WhatIfs): OperatorEndpoint {
  const questionSchema = z
    .strictObject({ rules: routingRulesSchema, ...whatIfFields })
    .superRefine(({ rules }, context) => refuseObjections(objectionsTo(rules, router.table.acquirers), context))
    .meta({ id: "AskWhatIf", examples: [{ rules: exampleRules, days: 7, environment: "sandbox" as const }] });
  return operatorEndpoint({
    method: "POST",
    operationId: "askRoutingWhatIf",
    path: "/ops/v1/routing/what-if",
    summary: "Hold rules against the payments of the last days: success and cost before and after; changes nothing",
    tag: "Routing",
    role: "viewer",
    changesNothing: true,
    body: questionSchema,
    success: { description: "What these rules would have made of them.", schema: whatIfSchema },
    async handle({ body }) {
      const { rules, days, environment = "sandbox", merchant_id: merchantId } = body;
      const question = { rules, days, environment, merchantId };
      return reply(200, whatIfView(question, await whatIfs.ask(question)));
    },
  });
}
