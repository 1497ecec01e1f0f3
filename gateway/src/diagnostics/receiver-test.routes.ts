// The endpoint of the receiver test (`exam` in the API). The test runs before the command, which stores only its scorecard under the key.
import { z } from "zod";
import { SECOND } from "../ground/clock.ts";
import { type Call, type Endpoint, writeEndpoint } from "../http/endpoint.ts";
import { reply } from "../ground/reply.ts";
import { headersSchema, nothing } from "../http/shapes.ts";
import { recordedAnswer } from "../idempotency/idempotency.ts";
import { selectBookOffset } from "../merchants/books.sql.ts";
import type { Database } from "../store/database.ts";
import type { Examiner, Scorecard } from "./receiver-test.ts";
import { checkNames } from "./receiver-checks.ts";
import { noReceiver, receiverOf } from "../sandbox/receiver.ts";

/** The result of a test; without a scorecard when no address is registered. */
interface Examined {
  scorecard?: Scorecard | undefined;
}

const exampleCheck = {
  name: "accepts_genuine" as const,
  passed: true,
  sent: { headers: { "content-type": "application/json" }, body: "{}" },
  received: { status: 200, duration_ms: 12, reason: null, headers: { "content-length": "0" }, body: "" },
  guide: "Answer a genuine delivery with 2xx.",
};

const sentSchema = z
  .strictObject({ headers: headersSchema, body: z.string() })
  .meta({ id: "SentDelivery", description: "The delivery that decided, as it was sent." });

const receivedSchema = z
  .strictObject({
    status: z
      .int()
      .min(100)
      .max(999)
      .nullable()
      .meta({ description: "Null when no answer came.", examples: [200] }),
    duration_ms: z
      .int()
      .min(0)
      .meta({ examples: [12] }),
    reason: z.string().nullable().meta({ description: "In plain words; null when the check was passed." }),
    headers: headersSchema
      .nullable()
      .meta({ description: "Of the answer: the first 20, each value up to 150 characters." }),
    body: z.string().nullable().meta({ description: "The first 500 bytes of the answer's body, as text." }),
  })
  .meta({ id: "ReceivedAnswer", description: "What your receiver answered." });

const checkSchema = z
  .strictObject({
    name: z.enum(checkNames).meta({ id: "ReceiverCheckName" }),
    passed: z.boolean(),
    sent: sentSchema,
    received: receivedSchema,
    guide: z.string().meta({ description: "How to do it right, and where the guide says so." }),
  })
  .meta({ id: "ReceiverCheck" });

const scorecardSchema = z
  .strictObject({
    passed: z.boolean().meta({ description: "Every check was passed." }),
    checks: z.array(checkSchema),
  })
  .meta({ id: "Scorecard", examples: [{ passed: true, checks: [exampleCheck] }] });

export function examEndpoints(parts: { examiner: Examiner; database: Database }): Endpoint[] {
  return [
    writeEndpoint<Examined>({
      operationId: "testReceiver",
      path: "/v1/sandbox/webhook/exam",
      summary: "Test your receiver",
      description:
        "Sends genuine, forged, altered, old, unknown, repeated, overtaken, late and slow deliveries to your registered address, and tells what " +
        "it made of each.",
      tag: "Sandbox",
      scope: "sandbox:write",
      sandboxOnly: true,
      errors: ["OBJECT_NOT_FOUND"],
      success: { status: 200, description: "The scorecard.", schema: scorecardSchema },
      body: { schema: nothing, order: [] },
      actsFirst: true,
      async judge(call, _input, found) {
        if ("fault" in found) throw found.fault;
        await refuseUsedKey(parts.database, call);
        const receiver = receiverOf(call);
        if (!receiver) return {};
        const [row] = await parts.database.query<{ clock_offset_seconds: bigint }>(selectBookOffset(call.book));
        const now = call.realNow + Number(row?.clock_offset_seconds ?? 0n) * SECOND;
        return { scorecard: await parts.examiner.examine(call.book, receiver, now) };
      },
      lane: "move",
      command: ({ book }, { scorecard }) => ({
        name: "keep scorecard",
        book,
        needs: [],
        execute() {
          if (!scorecard) throw noReceiver();
          return reply(200, scorecard);
        },
      }),
    }),
  ];
}

/**
 * Throws when the idempotency key has a record, so that nothing is sent to the receiver again. The edge then answers from the record,
 * whatever is thrown here. An intent without an endpoint conflicts with every record.
 */
async function refuseUsedKey(database: Database, { book, idempotencyKey, requestId, realNow }: Call): Promise<void> {
  const intent = { book, key: idempotencyKey, endpoint: "", bodyDigest: Buffer.alloc(0), requestId };
  await recordedAnswer(database, { ...intent, receivedAt: realNow }, realNow);
}
