// Trigger an event: a sample of any type, sent to the registered address by the same way as a real one.
import { bookCommand } from "../commands/command-context.ts";
import { z } from "zod";
import { eventTypes } from "../events/event.ts";
import { type Endpoint, writeEndpoint } from "../http/endpoint.ts";
import { reply } from "../ground/reply.ts";
import { noReceiver, receiverOf } from "./receiver.ts";
import { sampleData } from "./samples.ts";

const triggerSchema = z.strictObject({ type: z.enum(eventTypes) });
const triggeredSchema = z.strictObject({
  event_id: z.string().meta({ description: "Identity of the event that is on its way." }),
  type: z.enum(eventTypes),
});

export function triggerEndpoints(): Endpoint[] {
  return [
    writeEndpoint<z.infer<typeof triggerSchema>>({
      path: "/v1/sandbox/events/trigger",
      summary: "Send an event of any type with sample data (`data.sample` is true) to your registered address",
      tag: "Sandbox",
      scope: "sandbox:write",
      sandboxOnly: true,
      errors: ["OBJECT_NOT_FOUND"],
      success: { status: 200, description: "The event was recorded and will be delivered.", schema: triggeredSchema },
      body: { schema: triggerSchema, order: ["type"] },
      lane: "move",
      command: (call, { type }) =>
        bookCommand(call, {
          name: "trigger event",
          needs: [],
          execute({ emit, book, now }) {
            const callbackUrl = receiverOf(call)?.url;
            if (callbackUrl === undefined) throw noReceiver();
            // A sample is about no object: whoever proves the books looks for none.
            const event = { type, subjectId: undefined, callbackUrl, data: sampleData(type, book, now) };
            return reply(200, { event_id: emit(event), type });
          },
        }),
    }),
  ];
}
