// The routes of signature diagnostics (`doctor` in the API): why a request was refused, and whether a received webhook verifies.
import { z } from "zod";
import { type Clock, SECOND } from "../ground/clock.ts";
import type { Vault } from "../ground/crypto.ts";
import { Fault, assert } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { type Diagnosis, diagnoses, explanations } from "./diagnoses.ts";
import { type Call, type Endpoint, ofSandbox, readEndpoint, writeEndpoint } from "../http/endpoint.ts";
import { reply } from "../ground/reply.ts";
import { wholeBetween } from "../ground/whole.ts";
import { explanationOf, messageDiagnoses } from "./message-diagnoses.ts";
import { type DiagnosisRow, selectDiagnosis } from "./rejected-requests.sql.ts";
import { exampleIds } from "../http/examples.ts";
import { inPath, text } from "../http/shapes.ts";
import { readMerchantSecrets } from "../merchants/merchant-secrets.ts";
import type { Database } from "../store/database.ts";
import {
  type ComputedDiagnosis,
  computedDiagnoses,
  computedExplanationsOf,
  diagnoseComputed,
} from "./computed-signature.ts";
import {
  type DeliveryDiagnosis,
  type DeliverySecrets,
  deliveryDiagnoses,
  diagnoseDelivery,
  explanationsOf,
  lowerCased,
} from "./delivery-diagnosis.ts";
import { selectEventBody } from "../sandbox/listen.sql.ts";

interface DoctorParts {
  database: Database;
  vault: Vault;
  clock: Clock;
  /** Prefix of the service's own webhook headers. */
  headerPrefix: string;
}

/** Reads of a diagnosis before it counts as missing: it is stored a moment after the refusal, and the caller may come sooner. */
const LOOKS = 8;
const BETWEEN_LOOKS_MS = 100;

const HEADERS_MAX = 60;
const BODY_MAX = 131_072;

const requestDiagnosisSchema = z
  .strictObject({
    diagnosis: z.enum([...diagnoses, ...messageDiagnoses] as [Diagnosis, ...Diagnosis[]]),
    explanation: z.string().meta({ description: "What was wrong and what to change, in plain words." }),
    subject: z
      .string()
      .optional()
      .meta({ description: "Of a request signed by RFC 9421: the component, parameter or header that it is about." }),
    signature_base: z.string().optional().meta({
      description: "Of a request signed by RFC 9421: the text that should have been signed; cut after 4000 characters.",
    }),
  })
  .meta({
    id: "RequestDiagnosis",
    examples: [{ diagnosis: "header_swapped", explanation: explanations.header_swapped }],
  });

const computedDiagnosisSchema = z
  .strictObject({
    diagnosis: z.enum(computedDiagnoses),
    explanation: z
      .string()
      .meta({ description: "By which mistake your code came to another signature, in plain words." }),
  })
  .meta({ id: "ComputedDiagnosis" });

const deliveryDiagnosisSchema = z
  .strictObject({
    diagnosis: z.enum(deliveryDiagnoses),
    explanation: z
      .string()
      .meta({ description: "Whether it is ours, what was wrong and what to change, in plain words." }),
    computed: computedDiagnosisSchema.nullable().meta({ description: "About `computed_signature`; null without one." }),
  })
  .meta({
    id: "DeliveryDiagnosis",
    examples: [{ diagnosis: "headers_missing", explanation: explanationsOf("X-SVC-").headers_missing, computed: null }],
  });

const pastedSchema = z
  .strictObject({
    headers: z
      .record(text(1, 100), text(0, 2_000))
      .refine((headers) => Object.keys(headers).length <= HEADERS_MAX, `must have at most ${HEADERS_MAX} headers`)
      .meta({
        id: "PastedHeaders",
        description: "The headers as they arrived, names in any case.",
        maxProperties: HEADERS_MAX,
      }),
    body: text(0, BODY_MAX).meta({ description: "The raw body as it arrived." }),
    received_at: wholeBetween(0, 99_999_999_999)
      .optional()
      .meta({ description: "When it arrived, in Unix seconds; now when absent." }),
    computed_signature: text(1, 200).optional().meta({
      description: "What your own code computed for it, if that differs: then you are told by which mistake.",
    }),
  })
  .meta({
    id: "DiagnoseDelivery",
    examples: [{ headers: { "X-SVC-Event-Id": exampleIds.event, "X-SVC-Timestamp": "1795317240" }, body: "{}" }],
  });

/** A pasted delivery, and its diagnosis, which is made before the command runs. */
type Pasted = z.infer<typeof pastedSchema> & { findings?: Findings | undefined };

interface Findings {
  diagnosis: DeliveryDiagnosis;
  computed: ComputedDiagnosis | undefined;
}

export function doctorEndpoints(parts: DoctorParts): Endpoint[] {
  const words = explanationsOf(parts.headerPrefix);
  const computedWords = computedExplanationsOf(parts.headerPrefix);
  return [
    readEndpoint({
      operationId: "diagnoseRequest",
      path: "/v1/sandbox/requests/{request_id}/doctor",
      params: { request_id: inPath("request", "RequestId", "`request_id` of the refused request.") },
      summary: "Find out why a request's signature was refused, within a day of it",
      ...ofSandbox,
      errors: ["OBJECT_NOT_FOUND"],
      success: { description: "What was wrong.", schema: requestDiagnosisSchema },
      async handle(call) {
        const found = await findDiagnosis(parts.database, call, call.params.request_id ?? "");
        const { diagnosis, subject, signature_base: base } = found;
        return reply(200, {
          diagnosis,
          explanation: explanationOf(diagnosis, subject),
          ...(subject === null ? {} : { subject }),
          ...(base === null ? {} : { signature_base: base }),
        });
      },
    }),
    writeEndpoint<Pasted>({
      operationId: "diagnoseDelivery",
      path: "/v1/sandbox/webhook/doctor",
      summary: "Find out whether a webhook as you received it verifies, and if not, why",
      ...ofSandbox,
      changesNothing: true,
      success: { description: "What was found.", schema: deliveryDiagnosisSchema },
      body: { schema: pastedSchema, order: ["headers", "body", "received_at", "computed_signature"] },
      lane: "create",
      async judge(call, _input, found) {
        if ("fault" in found) throw found.fault;
        return { ...found.value, findings: await examine(parts, call, found.value) };
      },
      command: ({ book }, { findings }) => ({
        name: "diagnose delivery",
        book,
        needs: [],
        execute() {
          assert(findings, "a delivery was not examined");
          const { diagnosis, computed } = findings;
          return reply(200, {
            diagnosis,
            explanation: words[diagnosis],
            computed: computed === undefined ? null : { diagnosis: computed, explanation: computedWords[computed] },
          });
        },
      }),
    }),
  ];
}

/** Throws OBJECT_NOT_FOUND for a request that is unknown, another merchant's, not refused for its signature, or without a stored diagnosis. */
async function findDiagnosis(database: Database, { merchant }: Call, requestId: string): Promise<DiagnosisRow> {
  for (let look = 1; isId("request", requestId) && look <= LOOKS; look++) {
    const [row] = await database.query<DiagnosisRow>(selectDiagnosis(merchant.merchantId, requestId));
    if (row) return row;
    if (look < LOOKS) await new Promise((resolve) => setTimeout(resolve, BETWEEN_LOOKS_MS));
  }
  throw new Fault("OBJECT_NOT_FOUND", {
    message: "No request of yours with this request_id was refused for its signature in the last 24 hours.",
  });
}

async function examine(
  { database, vault, clock, headerPrefix }: DoctorParts,
  { book }: Call,
  pasted: Pasted,
): Promise<Findings> {
  const { credentials, webhooks } = await readMerchantSecrets(database, vault, book.merchantId);
  const here = webhooks.find(({ environment }) => environment === book.environment);
  const [current, previous] = here?.secrets ?? [];
  assert(current !== undefined, `${book.merchantId} has no webhook secret`);
  const headers = lowerCased(pasted.headers);
  const named = headers.get(`${headerPrefix.toLowerCase()}event-id`) ?? headers.get("webhook-id") ?? "";
  const [event] = isId("event", named) ? await database.query<{ body: string }>(selectEventBody(book, named)) : [];
  const delivery = { ...pasted, receivedAt: pasted.received_at ?? Math.floor(clock.now() / SECOND) };
  const secrets: DeliverySecrets = {
    current,
    previous,
    elsewhere: webhooks.filter((webhook) => webhook !== here).flatMap((webhook) => webhook.secrets),
    api: credentials.map(({ secret }) => secret),
    listeners: credentials.map(({ listener }) => listener),
  };
  const sent = event?.body;
  const verdict = diagnoseDelivery(delivery, secrets, headerPrefix, sent);
  const { computed_signature: computed } = pasted;
  return {
    diagnosis: verdict,
    computed:
      computed === undefined
        ? undefined
        : diagnoseComputed(computed, delivery, secrets, headerPrefix, { sent, verdict }),
  };
}
