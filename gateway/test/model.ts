// A model of the service, in maps and sums: one merchant's sandbox book that predicts the answer to each request. It was written from the
// interface, and shares no code with the service. Below it: queries for rows that no book may have. No HTTP lives here.

type PaymentStatus =
  | "pending"
  | "processing"
  | "succeeded"
  | "failed"
  | "expired"
  | "canceled"
  | "partially_refunded"
  | "refunded";
type DisputeStatus = "needs_response" | "under_review" | "won" | "lost" | "withdrawn";

/** An object with the identity that the service gave it, and its settlement batch. Times are seconds of the book's clock; Infinity means never. */
type Item = { id: string; amount: number; batch?: Batch | undefined };
type Price = { currency: string; amount: number; fee: number };
type Payment = Item & Price & { referenceId: string; slow: boolean; expiresAt: number } & Progress;
type Progress = { status: PaymentStatus; refunded: number; pending: number; paidAt: number; dispute?: Dispute };
type Refund = Item & { payment: Payment; status: "pending" | "succeeded" | "failed"; completedAt: number };
type Dispute = Item & { payment: Payment; status: DisputeStatus; dueAt: number; resolvedAt: number };
type Figures = { currency: string; gross: number; fee: number; refund: number; net: number; count: number };
export type Batch = Figures & { id: string; status: "processing" | "paid" | "failed"; payDueAt: number };
type Balance = { available: number; held: number; settling: number };
type Order = {
  amount: number;
  currency: string;
  method: Method;
  expiresIn: number;
  slow: boolean;
  referenceId: string;
};

/** The expected answer: status and code of a rejection, or the status and fields of a success, with the objects whose identities it shows. */
export type Prediction =
  | { refused: string }
  | { status: number; fields: Record<string, unknown>; born?: { id: string }; bornBatches?: Batch[] };

const HOUR = 3600;
const DAY = 24 * HOUR;
const EVIDENCE_TIME = 7 * DAY;
const KEY_TIME = 72 * HOUR;
/** From the forming of a batch until the simulated bank pays it. */
const PAY_AFTER = HOUR;
const JAKARTA = 7 * HOUR;

/** Prices, in the form of the merchant's settings. */
export const fees = {
  qris: { basis_points: 70, flat_minor: 0 },
  va: { basis_points: 0, flat_minor: 4_000 },
  card: { basis_points: 290, flat_minor: 2_000 },
} as const;
export type Method = keyof typeof fees;

const running = (dispute: Dispute | undefined): boolean =>
  dispute?.status === "needs_response" || dispute?.status === "under_review";

export class Model {
  /** Seconds of the book's clock. */
  now: number;
  readonly payments: Payment[] = [];
  /** Paid payments in the order of their payment, which is not that of their creation. */
  private readonly paid: Payment[] = [];
  readonly refunds: Refund[] = [];
  readonly disputes: Dispute[] = [];
  readonly batches: Batch[] = [];
  readonly balances = new Map<string, Balance>();
  readonly frozen = new Set<string>();
  /** Event types of each object, in order. */
  readonly events = new Map<object, string[]>();
  /** Time at which each idempotency key was first seen with a stored answer. */
  readonly keys = new Map<string, number>();
  private nextRunAt: number;

  constructor(now: number, currencies: readonly string[]) {
    this.now = now;
    this.nextRunAt = cutoffAfter(now);
    for (const currency of currencies) this.balances.set(currency, { available: 0, held: 0, settling: 0 });
  }

  isKept(key: string): boolean {
    const firstSeenAt = this.keys.get(key);
    return firstSeenAt !== undefined && this.now - firstSeenAt < KEY_TIME;
  }

  create({ amount, currency, referenceId, slow, method, expiresIn }: Order): Prediction {
    if (this.payments.some((payment) => payment.referenceId === referenceId))
      return { refused: "409 REFERENCE_ID_DUPLICATE" };
    const price = fees[method];
    const fee = Math.min(amount, Math.floor((amount * price.basis_points + 5_000) / 10_000) + price.flat_minor);
    const progress: Progress = { status: "pending", refunded: 0, pending: 0, paidAt: Infinity };
    const expiresAt = this.now + expiresIn;
    const payment: Payment = { id: "", referenceId, currency, amount, fee, slow, expiresAt, ...progress };
    this.payments.push(payment);
    this.tell(payment, "payment.created");
    const fields = { status: "pending", amount_minor: amount, fee_minor: fee, net_minor: amount - fee, currency };
    return { status: 201, fields, born: payment };
  }

  cancel(payment: Payment): Prediction {
    if (payment.status !== "pending") return { refused: "409 PAYMENT_NOT_CANCELABLE" };
    this.move(payment, "canceled");
    return { status: 200, fields: { reference: payment.id, status: "canceled" } };
  }

  simulate(payment: Payment, outcome: "processing" | "succeeded" | "failed"): Prediction {
    const { status } = payment;
    if (status === "expired") return { refused: "409 PAYMENT_EXPIRED" };
    if (status !== "pending" && !(status === "processing" && outcome !== "processing"))
      return { refused: "409 PAYMENT_NOT_PAYABLE" };
    this.move(payment, outcome);
    if (outcome === "succeeded") {
      payment.paidAt = this.now;
      this.balance(payment).available += payment.amount - payment.fee;
    }
    return { status: 200, fields: { reference: payment.id, status: outcome, refunded_minor: 0 } };
  }

  /** Refunds `amount`; when undefined, the rest of the payment. */
  refund(payment: Payment, amount: number | undefined, currency: string | undefined): Prediction {
    const { dispute } = payment;
    const paid = refundable(payment) || payment.status === "refunded";
    if (!paid || running(dispute)) return { refused: "409 PAYMENT_NOT_REFUNDABLE" };
    if (currency !== undefined && currency !== payment.currency) return { refused: "422 CURRENCY_MISMATCH" };
    const remaining = remainingOf(payment);
    const taken = amount ?? remaining;
    if (taken > remaining || taken === 0) return { refused: "422 REFUND_EXCEEDS_PAYMENT" };
    if (this.frozen.has(payment.currency)) return { refused: "403 WALLET_FROZEN" };
    const balance = this.balance(payment);
    if (balance.available < taken)
      return { refused: balance.available + balance.held >= taken ? "409 DISPUTE_LOCKED" : "422 INSUFFICIENT_FUNDS" };
    balance.available -= taken;
    const refund: Refund = { id: "", payment, amount: taken, status: "pending", completedAt: Infinity };
    this.refunds.push(refund);
    payment.pending += taken;
    if (!payment.slow) this.complete(refund, "succeeded");
    const left = { remaining_refundable_minor: remaining - taken };
    const fields = { payment_reference: payment.id, status: refund.status, amount_minor: taken, ...left };
    return { status: 201, fields, born: refund };
  }

  /** The late outcome of a refund at a slow acquirer. */
  simulateRefund(refund: Refund, outcome: "succeeded" | "failed"): Prediction {
    if (refund.status !== "pending") return { refused: "409 PAYMENT_NOT_PAYABLE" };
    this.complete(refund, outcome);
    return { status: 200, fields: { uuid: refund.id, status: outcome, amount_minor: refund.amount } };
  }

  private complete(refund: Refund, outcome: "succeeded" | "failed"): void {
    const { payment, amount } = refund;
    refund.status = outcome;
    refund.completedAt = this.now;
    payment.pending -= amount;
    if (outcome === "failed") this.balance(payment).available += amount;
    else {
      payment.refunded += amount;
      payment.status = payment.refunded === payment.amount ? "refunded" : "partially_refunded";
    }
    this.tell(refund, `refund.${outcome}`);
  }

  openDispute(payment: Payment, amount: number | undefined): Prediction {
    const { dispute: last } = payment;
    const remaining = remainingOf(payment);
    if (!refundable(payment) || running(last) || last?.status === "lost" || remaining === 0)
      return { refused: "409 PAYMENT_NOT_REFUNDABLE" };
    const contested = amount ?? remaining;
    if (contested > remaining) return { refused: "422 INVALID_AMOUNT" };
    const times = { dueAt: this.now + EVIDENCE_TIME, resolvedAt: Infinity };
    const dispute: Dispute = { id: "", payment, amount: contested, status: "needs_response", ...times };
    payment.dispute = dispute;
    this.disputes.push(dispute);
    const balance = this.balance(payment);
    balance.available -= contested;
    balance.held += contested;
    this.tell(dispute, "dispute.opened");
    return { status: 201, fields: { status: "needs_response", amount_minor: contested }, born: dispute };
  }

  submitEvidence(dispute: Dispute): Prediction {
    if (dispute.status !== "needs_response") return { refused: "409 DISPUTE_RESOLVED" };
    dispute.status = "under_review";
    this.tell(dispute, "dispute.updated");
    return { status: 200, fields: { status: "under_review" } };
  }

  resolve(dispute: Dispute, outcome: "won" | "lost" | "withdrawn"): Prediction {
    if (!running(dispute)) return { refused: "409 DISPUTE_RESOLVED" };
    dispute.status = outcome;
    dispute.resolvedAt = this.now;
    const balance = this.balance(dispute.payment);
    balance.held -= dispute.amount;
    if (outcome !== "lost") balance.available += dispute.amount;
    this.tell(dispute, "dispute.resolved");
    return { status: 200, fields: { uuid: dispute.id, status: outcome, outcome } };
  }

  /** Settles all unsettled items now, whatever the schedule. */
  runSettlements(): Prediction {
    const formed = this.form(Infinity, this.now);
    return { status: 200, fields: {}, bornBatches: formed };
  }

  pay(batch: Batch): Prediction {
    if (batch.status !== "processing") return { refused: "409 SETTLEMENT_CLOSED" };
    if (this.frozen.has(batch.currency)) return { refused: "403 WALLET_FROZEN" };
    batch.status = "paid";
    this.balance(batch).settling -= batch.net;
    this.tell(batch, "settlement.paid");
    return { status: 200, fields: { uuid: batch.id, status: "paid", net_minor: batch.net } };
  }

  /** The bank returns a batch: its funds are available again, and its items wait for another batch. */
  returnBatch(batch: Batch): Prediction {
    if (batch.status !== "processing") return { refused: "409 SETTLEMENT_CLOSED" };
    batch.status = "failed";
    const balance = this.balance(batch);
    balance.settling -= batch.net;
    balance.available += batch.net;
    for (const item of [...this.payments, ...this.refunds, ...this.disputes])
      if (item.batch === batch) item.batch = undefined;
    return { status: 200, fields: { status: "failed" } };
  }

  /** Moves the clock. Lost disputes, batches of every cutoff, payouts and expiries happen at the times at which they are due. */
  advance(seconds: number): Prediction {
    const target = this.now + seconds;
    const bornBatches: Batch[] = [];
    do {
      this.now = Math.min(target, this.nextDue());
      for (const payment of this.payments)
        if (payment.status === "pending" && payment.expiresAt <= this.now) this.move(payment, "expired");
      for (const dispute of this.disputes)
        if (dispute.status === "needs_response" && dispute.dueAt <= this.now) this.resolve(dispute, "lost");
      for (; this.nextRunAt <= this.now; this.nextRunAt = cutoffAfter(this.nextRunAt))
        bornBatches.push(...this.form(this.nextRunAt, this.nextRunAt));
      for (const batch of this.batches) if (this.isPayable(batch) && batch.payDueAt <= this.now) this.pay(batch);
    } while (this.now < target);
    return { status: 200, fields: {}, bornBatches };
  }

  private isPayable({ status, currency }: Batch): boolean {
    return status === "processing" && !this.frozen.has(currency);
  }

  /** The next moment at which something falls due on which other changes depend. */
  private nextDue(): number {
    const moments = [
      this.nextRunAt,
      ...this.disputes.filter(({ status }) => status === "needs_response").map(({ dueAt }) => dueAt),
      ...this.batches.filter(({ status }) => status === "processing").map(({ payDueAt }) => payDueAt),
    ];
    return Math.min(...moments.filter((moment) => moment > this.now));
  }

  /** Forms a batch per currency of items from before `until`: every deduction, and the oldest payments for which there are funds. */
  private form(until: number, formedAt: number): Batch[] {
    const formed: Batch[] = [];
    for (const [currency, balance] of this.balances) {
      if (this.frozen.has(currency)) continue;
      const free = (item: Item, payment: Payment): boolean => payment.currency === currency && !item.batch;
      const deductions = [
        ...this.refunds.filter((refund) => refund.completedAt < until && refund.status === "succeeded"),
        ...this.disputes.filter((dispute) => dispute.resolvedAt < until && dispute.status === "lost"),
      ]
        .filter((item) => free(item, item.payment) && !running(item.payment.dispute))
        // An unsettled payment with a refund under way waits, and its other refunds wait too.
        .filter((item) => item.payment.batch || item.payment.pending === 0 || this.disputes.includes(item as Dispute));
      const refund = deductions.reduce((sum, { amount }) => sum + amount, 0);
      const sums = { gross: 0, fee: 0, refund, net: 0, count: 0 };
      const batch: Batch = { id: "", currency, status: "processing", ...sums, payDueAt: formedAt + PAY_AFTER };
      const taken: Payment[] = [];
      for (const payment of this.paid) {
        if (!free(payment, payment) || payment.paidAt >= until || running(payment.dispute) || payment.pending > 0)
          continue;
        const net = batch.gross + payment.amount - batch.fee - payment.fee - batch.refund;
        if (net > balance.available) break;
        batch.gross += payment.amount;
        batch.fee += payment.fee;
        taken.push(payment);
      }
      batch.net = batch.gross - batch.fee - batch.refund;
      batch.count = taken.length;
      if (batch.net <= 0) continue;
      for (const item of [...taken, ...deductions]) item.batch = batch;
      balance.available -= batch.net;
      balance.settling += batch.net;
      this.batches.push(batch);
      this.tell(batch, "settlement.created");
      formed.push(batch);
    }
    return formed;
  }

  private move(payment: Payment, status: "processing" | "succeeded" | "failed" | "expired" | "canceled"): void {
    payment.status = status;
    if (status === "succeeded") this.paid.push(payment);
    this.tell(payment, `payment.${status}`);
  }

  private balance({ currency }: { currency: string }): Balance {
    const balance = this.balances.get(currency);
    if (!balance) throw new Error(`the model has no ${currency}`);
    return balance;
  }

  private tell(subject: object, type: string): void {
    this.events.set(subject, [...(this.events.get(subject) ?? []), type]);
  }
}

function refundable({ status }: Payment): boolean {
  return status === "succeeded" || status === "partially_refunded";
}

/** The part of a payment that is neither refunded, being refunded nor lost. A payment loses one dispute at most. */
export function remainingOf({ amount, refunded, pending, dispute }: Payment): number {
  return amount - refunded - pending - (dispute?.status === "lost" ? dispute.amount : 0);
}

/** The amount field for "half" of the rest, one more than the rest ("over") or "one"; no field, which means all of it, for other words. */
export function amountOf(word: string, remaining: number): { amount_minor?: number } {
  const amount = { half: Math.max(1, Math.floor(remaining / 2)), over: remaining + 1, one: 1 }[word];
  return amount === undefined ? {} : { amount_minor: amount };
}

/** The expected `settlement.status` of a payment. A payment of a returned batch is `pending` again. */
export function batchStatusOf({ paidAt, batch }: Payment): string | undefined {
  return paidAt < Infinity ? (batch?.status ?? "pending") : undefined;
}

export function figures({ currency, gross, fee, refund, net, count }: Figures): string {
  return JSON.stringify([currency, gross, fee, refund, net, count]);
}

/** A Monday at ten in Jakarta, a week or two from now. 1970-01-05 was a Monday. */
export function mondayAfter(now: number): number {
  return (Math.floor((now - 4 * DAY) / (7 * DAY)) + 2) * 7 * DAY + 4 * DAY + 3 * HOUR;
}

/** The next midnight in Jakarta, strictly after an instant, that begins a working day. */
function cutoffAfter(at: number): number {
  let day = Math.floor((at + JAKARTA) / DAY) + 1;
  // 1970-01-01 was a Thursday.
  while ([0, 6].includes((day + 4) % 7)) day++;
  return day * DAY - JAKARTA;
}

/** Queries that must find no row in any book, whatever happened. */
export const wrongs = {
  "accounts that do not sum to zero": `select currency, sum(debit_minor - credit_minor) from balances where $book group by 1 having sum(debit_minor - credit_minor) <> 0`,
  "an account below zero, but for available by a dispute": `
select j.kind, e.account, e.balance_after_minor from entries e join journals j using (merchant_id, environment, seq)
where $book and case when e.account like 'acquirer:%' then e.balance_after_minor < 0
  when e.account = 'merchant:available' then e.balance_after_minor > 0 and e.amount_minor > 0 and j.kind <> 'dispute_opened'
  else e.balance_after_minor > 0 end`,
  "refunds beyond the payment, or other than it says": `
select p.payment_id from payments p left join refunds r using (merchant_id, environment, payment_id)
where $book group by p.merchant_id, p.environment, p.payment_id, p.amount_minor, p.refunded_minor, p.refund_pending_minor
having coalesce(sum(r.amount_minor) filter (where r.status = 'succeeded'), 0) <> p.refunded_minor
  or coalesce(sum(r.amount_minor) filter (where r.status = 'pending'), 0) <> p.refund_pending_minor
  or p.refunded_minor + p.refund_pending_minor > p.amount_minor`,
  "a batch that is not the sum of its items": `
select s.settlement_id from settlements s join settlement_items i using (merchant_id, environment, settlement_id)
where $book group by s.merchant_id, s.environment, s.settlement_id, gross_minor, s.fee_minor, refund_minor, net_minor, payment_count
having net_minor <> gross_minor - s.fee_minor - refund_minor or s.fee_minor <> sum(i.fee_minor)
  or gross_minor <> coalesce(sum(i.amount_minor) filter (where kind = 'payment'), 0)
  or refund_minor <> coalesce(sum(i.amount_minor) filter (where kind <> 'payment'), 0)
  or payment_count <> count(*) filter (where kind = 'payment')`,
  "an item in two batches": `select item_id from settlement_items where $book and not released group by item_id having count(*) > 1`,
  "an event told twice": `select subject_id, type from events where $book group by 1, 2 having count(*) > 1`,
  "a movement made twice": `select operation_key from journals where $book group by 1 having count(*) > 1`,
  "events that are not the way to where the payment is": `
select p.status, string_agg(e.type, ' ' order by e.event_id) from payments p
left join events e on e.merchant_id = p.merchant_id and e.environment = p.environment and e.subject_id = p.payment_id
where p.merchant_id = $1 group by p.payment_id, p.status, p.gateway_code
having string_agg(substr(e.type, 9), ' ' order by e.type not like '%.created', e.type not like '%.processing') !~ case
  when p.status in ('succeeded', 'partially_refunded', 'refunded') then '^created( processing)? succeeded$'
  when p.status = 'failed' then '^created( processing)? failed$'
  when p.status = 'processing' then '^created processing$'
  when p.gateway_code is null then '^' || p.status || '$' -- over before its acquirer had answered
  when p.status = 'pending' then '^created$' else '^created ' || p.status || '$' end`,
  "objects without their events, or events without their objects": `
select * from (
  select 'refund.' || status as type, count(*) from refunds where $book and status <> 'pending' group by 1
  union all select 'dispute.opened', count(*) from disputes where $book having count(*) > 0
  union all select 'dispute.resolved', count(*) from disputes where $book and resolved_at is not null having count(*) > 0
  union all select 'settlement.created', count(*) from settlements where $book having count(*) > 0
  union all select 'settlement.paid', count(*) from settlements where $book and status = 'paid' having count(*) > 0
) o full join (select type, count(*) from events where $book and type !~ '^payment|updated' group by 1) e using (type)
where o.count is distinct from e.count`,
  "objects without their journals, or journals without their objects": `
select * from (
  select 'capture' as kind, count(*) from payments where $book and paid_at is not null having count(*) > 0
  union all select 'refund', count(*) from refunds where $book having count(*) > 0
  union all select 'refund_returned', count(*) from refunds where $book and status = 'failed' having count(*) > 0
  union all select 'dispute_opened', count(*) from disputes where $book having count(*) > 0
  union all select 'dispute_' || status, count(*) from disputes where $book and resolved_at is not null group by 1
  union all select 'settlement_formed', count(*) from settlements where $book having count(*) > 0
  union all select 'settlement_paid', count(*) from settlements where $book and status = 'paid' having count(*) > 0
  union all select 'settlement_returned', count(*) from settlements where $book and status = 'failed' having count(*) > 0
) o full join (select kind, count(*) from journals where $book group by 1) j using (kind)
where o.count is distinct from j.count`,
};

/** Query for the event types of each object, in order. */
export const ways = `select subject_id as subject, string_agg(type, ' ' order by event_id) as types from events where $book group by 1`;

/** Query for the balances to which the objects of a book add up. */
export const owed = `select currency, sum(a)::float8 as available, sum(h)::float8 as held, sum(s)::float8 as settling from (
  select currency, amount_minor - fee_minor as a, 0 as h, 0 as s from payments where $book and paid_at is not null
  union all select currency, -amount_minor, 0, 0 from refunds where $book and status <> 'failed'
  union all select currency, -amount_minor, case when resolved_at is null then amount_minor else 0 end, 0
    from disputes where $book and status not in ('won', 'withdrawn')
  union all select currency, -net_minor, 0, case status when 'processing' then net_minor else 0 end
    from settlements where $book and status <> 'failed'
) m group by currency`;
