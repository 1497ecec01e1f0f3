// The shape of a payment at its acquirer in the API: the acquirer, its own ids, and the messages that were exchanged.
import { z } from "zod";
import { operationSteps } from "../acquiring/operation.ts";
import { messageCalls } from "../acquiring/messages.ts";
import { exampleIds, exampleOperationKey } from "../http/examples.ts";
import { identity, textOrNull, timestamp, withExample } from "../http/shapes.ts";

/** The object of an acquirer operation. */
export const operationObject = z
  .string()
  .meta({ description: "The payment's reference or the refund's uuid.", examples: [exampleIds.payment] });
const gatewayCode = z.string().meta({ examples: ["nusantara"] });
const operationSchema = withExample(
  z.strictObject({
    object: operationObject,
    gateway_code: gatewayCode,
    step: z.enum(operationSteps).meta({ description: "How far its call has come. `done`: nothing is left to do." }),
    attempt: z.int().min(1).meta({ description: "Calls so far, each under its own operation key." }),
    operation_key: textOrNull(
      exampleOperationKey,
      "Our name for the call, which the acquirer knows; null before it is made.",
    ),
    provider_ids: z.record(z.string(), z.string()).meta({
      description:
        "What the acquirer calls it, each of its names under what it is a name of; empty while it has told none.",
    }),
    dashboard_url: textOrNull(
      "https://dashboard.example.com/payments/pr-1",
      "Where the acquirer's own dashboard shows it; null where that is not known.",
    ),
  }),
  { id: "OperationAtAcquirer", description: "What an acquirer was asked over a network, and what it calls that." },
  { step: "polling", attempt: 1, provider_ids: { payment_request: "pr-1" } },
);

const messageSchema = withExample(
  z.strictObject({
    object: operationObject,
    gateway_code: gatewayCode,
    attempt: z.int().min(1).meta({ description: "During which of its attempts." }),
    call: z
      .enum(messageCalls)
      .meta({ description: "What we were about; `report` for a message that the acquirer sent by itself." }),
    about: z.string().meta({ description: "Which request of its interface it was.", examples: ["POST /v2/charge"] }),
    status: z.int().nullable().meta({ description: "Status of the answer; null where none came, or none was due." }),
    text: z.string().meta({
      description:
        "The request after `> ` and the answer after `< `, each on a line. Secrets, cards and what names or reaches a person are left out; what is " +
        "long is cut.",
    }),
    exchanged_at: timestamp,
  }),
  {
    id: "AcquirerMessage",
    description:
      "One exchange with an acquirer: a request of ours with its answer, or a message that the acquirer sent by itself.",
  },
  { attempt: 1, status: 201, text: '> {"order_id":"pay.1"}\n< {"transaction_id":"pr-1","status":"pending"}' },
);

export const atAcquirerSchema = withExample(
  z.strictObject({
    reference: identity("payment"),
    gateway_code: textOrNull("nusantara", "Who took the payment; null where nobody did."),
    acquirer_name: textOrNull("Nusantara QR", "Its name; null where it is no longer configured."),
    operations: z.array(operationSchema).meta({
      description: "Of the payment and its refunds; none where nothing goes over a network.",
    }),
    messages: z.array(messageSchema).meta({
      description:
        "What was exchanged about the payment and its refunds, newest first. The same message of the same call is kept once.",
    }),
    is_cut: z.boolean().meta({ description: "True when there is more: of each the first hundred are told." }),
  }),
  { id: "PaymentAtAcquirer", description: "A payment as its acquirer has it." },
  { is_cut: false },
);
export type PaymentAtAcquirer = z.infer<typeof atAcquirerSchema>;
