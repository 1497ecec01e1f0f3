// GET /ops/v1/acquirers/{gateway_code}/stray-messages: authenticated notifications of an acquirer that could not be applied.
import { z } from "zod";
import { reportKinds } from "../acquirers/acquirer.ts";
import { type KeptStray, selectStrays, strayOfRow, strayReasons } from "../acquiring/strays.sql.ts";
import { wireTime } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { reply } from "../ground/reply.ts";
import { exampleTimes } from "../http/examples.ts";
import { exampleOf, positive, textOrNull, timestamp, withExample } from "../http/shapes.ts";
import type { Router } from "../routing/router.ts";
import type { Database } from "../store/database.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { acquirerParams } from "./params.ts";

/** Stray messages that are listed at most: the newest. */
export const STRAYS_MAX = 100;

const straySchema = withExample(
  z.strictObject({
    reason: z.enum(strayReasons).meta({
      description:
        "`unknown operation`: nothing of the kind was asked of this acquirer. `refused`: it contradicts what is known, such as another currency. " +
        "`earlier attempt`: it is about a call that was given up for another. `unreadable`: it was signed well, and says what is not known here.",
    }),
    operation_key: z.string().meta({
      description:
        "What it is about, as the acquirer named it; cut after 64 characters, and empty where it cannot be read.",
      examples: ["order-of-another-shop"],
    }),
    kind: z
      .enum(reportKinds)
      .nullable()
      .meta({
        description: "What it told of; null where it cannot be read. `look`: only that something happened.",
        examples: ["payment"],
      }),
    about: textOrNull("notification", "Which kind of message it was; null where that is not kept."),
    text: textOrNull(
      '{"order_id":"1042"}',
      "The message without secrets and personal data; null where it is not kept.",
    ),
    times: positive(3, "How often the same was sent."),
    first_at: timestamp,
    last_at: timestamp,
  }),
  { id: "StrayMessage", description: "A message of an acquirer that fits nothing. It changed nothing." },
  { text: '< {"order_id":"order-of-another-shop","transaction_status":"settlement"}', last_at: exampleTimes.paid },
);

const straysSchema = z
  .strictObject({
    data: z.array(straySchema),
    is_more: z.boolean().meta({ description: "True when older ones are left out." }),
  })
  .meta({ id: "StrayMessages", examples: [{ data: [exampleOf(straySchema)], is_more: false }] });

export function acquirerStraysEndpoint(router: Router, database: Database): OperatorEndpoint {
  return operatorEndpoint({
    method: "GET",
    operationId: "listStrayMessages",
    path: "/ops/v1/acquirers/{gateway_code}/stray-messages",
    params: acquirerParams,
    summary: "List what an acquirer sent that fits nothing, newest first",
    description:
      "Proven to be the acquirer's, and about no operation that was asked of it, or against what is known. None of it changed anything. The newest " +
      `${STRAYS_MAX}; the same message again is counted. Kept for 400 days.`,
    tag: "Acquirers",
    role: "viewer",
    success: { description: "The messages.", schema: straysSchema },
    async handle({ params }) {
      const acquirer = router.acquirer(params.gateway_code ?? "");
      if (!acquirer) throw new Fault("OBJECT_NOT_FOUND", { message: "No such acquirer." });
      const rows = await database.query(selectStrays(acquirer.code, STRAYS_MAX + 1));
      return reply(200, straysView(rows.map(strayOfRow)));
    },
  });
}

/** The newest STRAYS_MAX messages. One more in `strays` shows that there are older ones. */
export function straysView(strays: readonly KeptStray[]): z.infer<typeof straysSchema> {
  return {
    data: strays.slice(0, STRAYS_MAX).map((stray) => ({
      reason: stray.reason,
      operation_key: stray.operationKey,
      kind: stray.kind ?? null,
      about: stray.message?.about ?? null,
      text: stray.message?.text ?? null,
      times: stray.times,
      first_at: wireTime(stray.firstAt),
      last_at: wireTime(stray.lastAt),
    })),
    is_more: strays.length > STRAYS_MAX,
  };
}
