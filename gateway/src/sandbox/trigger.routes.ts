// Triggers an event: a sample of any type, sent to the registered address in the same way as a real event.
import { bookCommand } from "../commands/command-context.ts";
import { z } from "zod";
import { type Endpoint, ofSandbox, writeEndpoint } from "../http/endpoint.ts";
import { reply } from "../ground/reply.ts";
import { exampleIds } from "../http/examples.ts";
import { identity } from "../http/shapes.ts";
import { eventTypeSchema } from "../webhooks/envelopes.schema.ts";
import { noReceiver, receiverOf } from "./receiver.ts";
import { sampleData } from "./samples.ts";

const triggerSchema = z
  .strictObject({ type: eventTypeSchema })
  .meta({ id: "TriggerEvent", examples: [{ type: "payment.succeeded" }] });
const triggeredSchema = z
  .strictObject({
    event_id: identity("event").meta({ description: "Identity of the event that is on its way." }),
    type: eventTypeSchema,
  })
  .meta({ id: "TriggeredEvent", examples: [{ event_id: exampleIds.event, type: "payment.succeeded" }] });

export function triggerEndpoint(): Endpoint {
  return writeEndpoint<z.infer<typeof triggerSchema>>({
    operationId: "triggerEvent",
    path: "/v1/sandbox/events/trigger",
    summary: "Send an event of any type to your registered address",
    description: "The data is a sample, and says so: `data.sample` is true.",
    ...ofSandbox,
    errors: ["OBJECT_NOT_FOUND"],
    success: { description: "The event was recorded and will be delivered.", schema: triggeredSchema },
    links: [{ operationId: "listEventDeliveries", description: "Read how it arrived.", path: { id: "event_id" } }],
    body: { schema: triggerSchema, order: ["type"] },
    command: (call, { type }) =>
      bookCommand(call, {
        name: "trigger event",
        needs: [],
        execute({ emit, book, now }) {
          const callbackUrl = receiverOf(call)?.url;
          if (callbackUrl === undefined) throw noReceiver();
          // A sample has no subject: the verification of the ledger then expects no object for it.
          const event = { type, subjectId: undefined, callbackUrl, data: sampleData(type, book, now) };
          return reply(200, { event_id: emit(event), type });
        },
      }),
  });
}
