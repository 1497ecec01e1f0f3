// Queries of refunds for operators: over all merchants, each with the state of its acquirer operation. The refunds room writes the table.
import type { Operation } from "../acquiring/operation.ts";
import type { Micros } from "../ground/clock.ts";
import { uuidOrNull } from "../ground/ids.ts";
import type { Environment } from "../merchants/books.ts";
import type { Refund, RefundOfOrder } from "../refunds/refund.ts";
import { refundOfOrderRow } from "../refunds/refunds.sql.ts";
import { type Row, type Statement, optional } from "../store/database.ts";

export interface AnyRefund {
  refund: RefundOfOrder;
  gatewayCode: string;
  /** Undefined when the acquirer is not called over a network. */
  operation: Pick<Operation, "book" | "id" | "step" | "attempt" | "round" | "inquiries" | "dueAt"> | undefined;
}

interface RefundFilter {
  uuid?: string | undefined;
  merchantId?: string | undefined;
  environment?: Environment | undefined;
  paymentReference?: string | undefined;
  status?: Refund["status"] | undefined;
  /** The list begins after this refund. */
  after?: string | undefined;
}

/** A page of refunds, newest first, and one more than `limit`. The statement has no name, so that PostgreSQL plans it for its filters. */
export function selectRefunds(filter: RefundFilter, limit: number): Statement {
  return {
    // Reads book by book along the primary key. An index over the refunds of all books would cost more writes than it is worth.
    text: `select r.*, p.gateway_code, p.reference_id, o.step, o.attempt, o.round, o.inquiries, o.due_at
from (
  select r.*
  from books b
  cross join lateral (
    select *
    from refunds r
    where r.merchant_id = b.merchant_id and r.environment = b.environment
      and ($1::uuid is null or r.refund_id = $1::uuid)
      and ($4::uuid is null or r.payment_id = $4::uuid)
      and ($5::refund_status is null or r.status = $5::refund_status)
      and ($6::uuid is null or r.refund_id < $6::uuid)
    order by r.refund_id desc
    limit $7::integer
  ) r
  where ($2::uuid is null or b.merchant_id = $2::uuid) and ($3::environment is null or b.environment = $3::environment)
  order by r.refund_id desc
  limit $7::integer
) r
join payments p using (merchant_id, environment, payment_id)
left join acquirer_operations o
  on o.merchant_id = r.merchant_id and o.environment = r.environment and o.operation_id = r.refund_id
order by r.refund_id desc`,
    values: [
      uuidOrNull(filter.uuid),
      uuidOrNull(filter.merchantId),
      filter.environment,
      uuidOrNull(filter.paymentReference),
      filter.status,
      uuidOrNull(filter.after),
      limit + 1,
    ],
  };
}

export function anyRefundOfRow(row: Row): AnyRefund {
  const refund = refundOfOrderRow(row);
  const step = row.step as Operation["step"] | null;
  return {
    refund,
    gatewayCode: row.gateway_code as string,
    operation:
      step === null
        ? undefined
        : {
            book: refund.book,
            id: refund.uuid,
            step,
            attempt: row.attempt as number,
            round: row.round as number,
            inquiries: row.inquiries as number,
            dueAt: optional<Micros>(row.due_at),
          },
  };
}
