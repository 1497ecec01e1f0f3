// Records about a payment that only operators may see, each read through an index. The operator room writes its own audit; other rooms write the rest.
import { uuidOf } from "../ground/ids.ts";
import { type Book, bookValues } from "../merchants/books.ts";
import type { Statement } from "../store/database.ts";

/** Records of each kind that are listed at most. */
const RECORDED_MAX = 100;
/** The newest changes by a merchant's people that are searched for those about a payment. */
const PEOPLE_LOOKED_AT = 2_000;

/** Acquirer operations of the payment and its refunds; rows for `operationOfRow`. */
export function selectOperationsOf(book: Book, subjects: readonly string[]): Statement {
  return {
    name: "select acquirer operations of objects",
    text: `select *
from acquirer_operations
where merchant_id = $1::uuid and environment = $2::environment and operation_id = any($3::uuid[])
order by operation_id
limit ${RECORDED_MAX}`,
    values: [...bookValues(book), subjects.map(uuidOf)],
  };
}

/** Reconciliation exceptions of the payment and its refunds; rows for `exceptionOfRow`. */
export function selectExceptionsOf(book: Book, subjects: readonly string[]): Statement {
  return {
    name: "select reconciliation exceptions of objects",
    text: `select e.*, o.kind as operation_kind
from reconciliation_exceptions e
join acquirer_operations o using (merchant_id, environment, operation_id)
where e.merchant_id = $1::uuid and e.environment = $2::environment and e.operation_id = any($3::uuid[])
order by e.exception_id
limit ${RECORDED_MAX}`,
    values: [...bookValues(book), subjects.map(uuidOf)],
  };
}

/** Changes that the merchant's people made to these objects in the portal, as paths or answers name them, newest first; rows for `merchantAuditOfRow`. */
export function selectPeopleAbout(book: Book, subjects: readonly string[]): Statement {
  return {
    name: "select what people did to objects",
    text: `select a.audit_id, a.at, a.action, a.person_id, p.name, a.environment, a.path, a.address, a.details, answered.status
from (
  select *
  from people_audit
  where merchant_id = $1::uuid
  order by audit_id desc
  limit ${PEOPLE_LOOKED_AT}
) a
left join persons p using (person_id)
left join people_audit answered on answered.request_id = a.request_id and answered.status is not null
where a.status is null and a.environment = $2::text
  and (
    answered.details ->> 'object' = any($3::text[])
    or exists (select from unnest($3::text[]) as s(subject) where strpos(a.path, s.subject) > 0)
  )
order by a.audit_id desc
limit ${RECORDED_MAX}`,
    values: [...bookValues(book), subjects],
  };
}
