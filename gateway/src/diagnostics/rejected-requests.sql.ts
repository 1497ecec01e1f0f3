// All SQL of rejected requests: diagnoses are written in batches and kept for a day, a limited number for each merchant.
import { type Micros, DAY } from "../ground/clock.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import type { Statement } from "../store/database.ts";
import { STEP } from "../store/retention.ts";
import { bulkInsert } from "../store/table.ts";
import { type Diagnosis, unproven } from "./diagnoses.ts";
import { type MessageDiagnosis, unprovenOfMessages } from "./message-diagnoses.ts";

const KEPT_PER_MERCHANT = 200;

export interface Diagnosed {
  merchantId: string;
  requestId: string;
  diagnosis: Diagnosis | MessageDiagnosis;
  refusedAt: Micros;
  /** The component, parameter, label or header that the diagnosis is about. */
  subject?: string | undefined;
  /** The right signature base, as far as the request tells. */
  base?: string | undefined;
}

export const insertDiagnoses = bulkInsert<Diagnosed>(
  "refused_requests",
  {
    merchant_id: ["uuid", ({ merchantId }) => uuidOf(merchantId)],
    request_id: ["uuid", ({ requestId }) => uuidOf(requestId)],
    diagnosis: ["text", ({ diagnosis }) => diagnosis],
    refused_at: ["timestamptz", ({ refusedAt }) => refusedAt],
    subject: ["text", ({ subject }) => subject],
    signature_base: ["text", ({ base }) => base],
  },
  "on conflict do nothing",
);

/**
 * Deletes all but the newest rows of these merchants. Diagnoses that anybody who knows a client_id can cause are deleted first, so that a
 * flood of them does not displace those that the merchant's developers want to read.
 */
export function trimDiagnoses(merchantIds: readonly string[]): Statement {
  return {
    name: "trim diagnoses",
    text: `delete from refused_requests
where (merchant_id, request_id) in (
  select merchant_id, request_id
  from (
    select merchant_id, request_id,
      row_number() over (partition by merchant_id order by diagnosis = any($2::text[]), request_id desc) as place
    from refused_requests
    where merchant_id = any($1::uuid[])
  ) ranked
  where place > ${KEPT_PER_MERCHANT}
)`,
    values: [merchantIds.map(uuidOf), [...unproven, ...unprovenOfMessages]],
  };
}

export interface DiagnosisRow extends Record<string, unknown> {
  diagnosis: Diagnosis | MessageDiagnosis;
  subject: string | null;
  signature_base: string | null;
}

/** Gives a `DiagnosisRow`. */
export function selectDiagnosis(merchantId: string, requestId: string): Statement {
  return {
    name: "select diagnosis",
    text: `select diagnosis, subject, signature_base
from refused_requests
where merchant_id = $1::uuid and request_id = $2::uuid`,
    values: [uuidOf(merchantId), uuidOf(requestId)],
  };
}

/** Deletes diagnoses of requests that arrived more than a day ago. */
export function expiredDiagnoses(realNow: Micros): Statement {
  return {
    name: "forget refused requests",
    text: `delete from refused_requests
where (merchant_id, request_id) in (
  select r.merchant_id, r.request_id
  from merchants m
  cross join lateral (
  select r.merchant_id, r.request_id
  from refused_requests r
  where r.merchant_id = m.merchant_id and r.request_id < $1::uuid -- identities are in the order of time
  order by r.request_id
  limit ${STEP}
  ) r
  limit ${STEP}
)
returning 1`,
    values: [uuidOf(newId("request", realNow - DAY))],
  };
}
