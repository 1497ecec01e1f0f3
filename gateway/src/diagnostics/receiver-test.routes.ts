// The endpoint of the receiver test (`exam` in the API). The test runs before the command, which stores only its scorecard under the key.
import { SECOND } from "../ground/clock.ts";
import { type Call, type Endpoint, ofSandbox, writeEndpoint } from "../http/endpoint.ts";
import { reply } from "../ground/reply.ts";
import { nothing } from "../http/shapes.ts";
import { recordedAnswer } from "../idempotency/idempotency.ts";
import { selectBookOffset } from "../merchants/books.sql.ts";
import type { Database } from "../store/database.ts";
import type { Examiner } from "./receiver-test.ts";
import { type Scorecard, scorecardSchema } from "./receiver-test.schema.ts";
import { noReceiver, receiverOf } from "../sandbox/receiver.ts";

/** The result of a test; without a scorecard when no address is registered. */
interface Examined {
  scorecard?: Scorecard | undefined;
}

export function examEndpoint(parts: { examiner: Examiner; database: Database }): Endpoint {
  return writeEndpoint<Examined>({
    operationId: "testReceiver",
    path: "/v1/sandbox/webhook/exam",
    summary: "Test your receiver",
    description:
      "Sends genuine, forged, altered, old, unknown, repeated, overtaken, late and slow deliveries to your registered address, and tells what " +
      "it made of each.",
    ...ofSandbox,
    errors: ["OBJECT_NOT_FOUND"],
    success: { description: "The scorecard.", schema: scorecardSchema },
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
    command: ({ book }, { scorecard }) => ({
      name: "keep scorecard",
      book,
      needs: [],
      execute() {
        if (!scorecard) throw noReceiver();
        return reply(200, scorecard);
      },
    }),
  });
}

/**
 * Throws when the idempotency key has a record, so that nothing is sent to the receiver again. The edge then answers from the record,
 * whatever is thrown here. An intent without an endpoint conflicts with every record.
 */
async function refuseUsedKey(database: Database, { book, idempotencyKey, requestId, realNow }: Call): Promise<void> {
  const intent = { book, key: idempotencyKey, endpoint: "", bodyDigest: Buffer.alloc(0), requestId };
  await recordedAnswer(database, { ...intent, receivedAt: realNow }, realNow);
}
