// The shape of what a key changed, for the portal and for operators.
import { z } from "zod";
import { exampleIds, exampleTimes } from "../http/examples.ts";
import { identity, limitQuery, listSchema, startingAfter, textOrNull, timestamp, withExample } from "../http/shapes.ts";

const keyChangeSchema = withExample(
  z.strictObject({
    request_id: identity("request"),
    at: timestamp.meta({ description: "When the request came, by the real clock." }),
    action: z.string().meta({ description: "The operation.", examples: ["create_refund"] }),
    subject: textOrNull(exampleIds.refund, "The object that was made or changed; null: none alone."),
    status: textOrNull("succeeded", "The object's, as the answer had it."),
    address: z.string().meta({ description: "Where the request came from.", examples: ["203.0.113.7"] }),
  }),
  { id: "KeyChange", description: "Something that a request signed with the key changed." },
  { at: exampleTimes.refunded },
);

export const keyChangeListSchema = listSchema(keyChangeSchema, "KeyChangeList");

export const keyChangesQuery = z.strictObject({
  limit: limitQuery,
  starting_after: startingAfter("request", "is not the identity of a request", "Only changes older than this one."),
});
