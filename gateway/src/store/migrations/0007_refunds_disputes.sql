-- Refunds and disputes: money that goes back, or is held while someone contests it.

create type refund_status as enum ('pending', 'succeeded', 'failed');
create type dispute_status as enum ('needs_response', 'under_review', 'won', 'lost', 'withdrawn');

-- What refunds under way have reversed already, and how the payment's newest dispute stands.
alter table payments
  add column refund_pending_minor bigint not null default 0 check (refund_pending_minor >= 0),
  add column dispute_status dispute_status,
  add constraint payments_refunds_within_amount check (refunded_minor + refund_pending_minor <= amount_minor);
grant update (refund_pending_minor, dispute_status) on payments to gerbang_app;
-- A payment that waited for review gets its acquirer, instructions and time when it is approved.
grant update (risk_decision, gateway_code, instructions, routing, expires_at) on payments to gerbang_app;

create function check_payment_review() returns trigger language plpgsql as $$
begin
  raise exception 'only an approval of a payment under review changes how it is paid' using errcode = 'GB006';
end
$$;
create trigger payments_review before update of risk_decision, gateway_code, instructions, routing, expires_at on payments
for each row when (
  (old.gateway_code, old.risk_decision, old.expires_at) is distinct from (new.gateway_code, new.risk_decision, new.expires_at)
  and not (old.risk_decision = 'review' and old.status = 'pending')
) execute function check_payment_review();

-- A full or partial return of a payment's amount.
create table refunds (
  merchant_id uuid not null,
  environment environment not null,
  refund_id uuid not null,
  payment_id uuid not null,
  status refund_status not null,
  amount_minor bigint not null check (amount_minor between 1 and 9007199254740991),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  reason text check (length(reason) <= 255),
  created_at timestamptz not null,
  completed_at timestamptz,
  primary key (merchant_id, environment, refund_id),
  foreign key (merchant_id, environment, payment_id) references payments,
  check ((completed_at is null) = (status = 'pending'))
);
create index refunds_of_payment on refunds (merchant_id, environment, payment_id);

create function check_refund_change() returns trigger language plpgsql as $$
begin
  if old.status <> new.status and old.status <> 'pending' then
    raise exception 'a refund cannot go from % to %', old.status, new.status using errcode = 'GB006';
  end if;
  if (old.refund_id, old.payment_id, old.amount_minor, old.currency, old.created_at)
    is distinct from (new.refund_id, new.payment_id, new.amount_minor, new.currency, new.created_at) then
    raise exception 'what a refund was created with cannot change' using errcode = 'GB006';
  end if;
  return new;
end
$$;
create trigger refunds_change before update on refunds
for each row execute function check_refund_change();

-- A payment's totals are the sums of its refunds, so no two of them can spend the same money. The payment is written first;
-- what is checked here, once a statement and payment, is that its refunds agree with it.
create function check_refund_totals() returns trigger language plpgsql as $$
declare
  wrong record;
begin
  select p.payment_id into wrong
  from (select distinct merchant_id, environment, payment_id from changed) c
  join payments p using (merchant_id, environment, payment_id)
  cross join lateral (
    select coalesce(sum(r.amount_minor) filter (where r.status = 'succeeded'), 0)::bigint as refunded,
      coalesce(sum(r.amount_minor) filter (where r.status = 'pending'), 0)::bigint as pending
    from refunds r
    where r.merchant_id = p.merchant_id and r.environment = p.environment and r.payment_id = p.payment_id
  ) r
  where p.refunded_minor <> r.refunded or p.refund_pending_minor <> r.pending
  limit 1;
  if found then
    raise exception 'the totals of payment % are not the sums of its refunds', wrong.payment_id using errcode = 'GB008';
  end if;
  return null;
end
$$;
create trigger refunds_total_of_new after insert on refunds
referencing new table as changed
for each statement execute function check_refund_totals();
create trigger refunds_total_of_changed after update on refunds
referencing new table as changed
for each statement execute function check_refund_totals();

-- A payer's contest of a payment. While it runs, the contested amount is held.
create table disputes (
  merchant_id uuid not null,
  environment environment not null,
  dispute_id uuid not null,
  payment_id uuid not null,
  status dispute_status not null,
  reason text not null check (reason in
    ('product_not_received', 'product_unacceptable', 'fraudulent', 'duplicate', 'credit_not_processed', 'general')),
  amount_minor bigint not null check (amount_minor between 1 and 9007199254740991),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  evidence_due_at timestamptz not null,
  opened_at timestamptz not null,
  resolved_at timestamptz,
  primary key (merchant_id, environment, dispute_id),
  foreign key (merchant_id, environment, payment_id) references payments,
  check ((resolved_at is null) = (status in ('needs_response', 'under_review')))
);
-- One running dispute a payment.
create unique index disputes_running on disputes (merchant_id, environment, payment_id)
where status in ('needs_response', 'under_review');
create index disputes_unanswered on disputes (merchant_id, environment, evidence_due_at) where status = 'needs_response';

create function check_dispute_change() returns trigger language plpgsql as $$
begin
  if old.status <> new.status and (old.status::text || ' > ' || new.status::text) not in (
    'needs_response > under_review', 'needs_response > won', 'needs_response > lost', 'needs_response > withdrawn',
    'under_review > won', 'under_review > lost', 'under_review > withdrawn'
  ) then
    raise exception 'a dispute cannot go from % to %', old.status, new.status using errcode = 'GB006';
  end if;
  if (old.dispute_id, old.payment_id, old.amount_minor, old.currency, old.opened_at, old.reason)
    is distinct from (new.dispute_id, new.payment_id, new.amount_minor, new.currency, new.opened_at, new.reason) then
    raise exception 'what a dispute was opened with cannot change' using errcode = 'GB006';
  end if;
  return new;
end
$$;
create trigger disputes_change before update on disputes
for each row execute function check_dispute_change();

-- What the merchant said to a dispute: once, and kept as it was.
create table dispute_evidence (
  merchant_id uuid not null,
  environment environment not null,
  dispute_id uuid not null,
  statement text not null check (length(statement) between 1 and 20000),
  files json not null check (length(files::text) <= 262144),
  submitted_at timestamptz not null,
  primary key (merchant_id, environment, dispute_id),
  foreign key (merchant_id, environment, dispute_id) references disputes
);
create trigger dispute_evidence_kept before update or delete or truncate on dispute_evidence
for each statement execute function refuse_change();

-- What a merchant has available (a credit balance) goes below zero only when a dispute is opened; what is held and what is
-- being settled never do.
create function check_protected_accounts() returns trigger language plpgsql as $$
declare
  wrong record;
begin
  select i.seq, i.account into wrong
  from inserted i
  join journals j using (merchant_id, environment, seq)
  where i.amount_minor > 0 and i.balance_after_minor > 0
    and (i.account in ('merchant:held', 'merchant:settling')
      or (i.account = 'merchant:available' and j.kind <> 'dispute_opened'))
  limit 1;
  if found then
    raise exception 'journal % would take % below zero', wrong.seq, wrong.account using errcode = 'GB009';
  end if;
  return null;
end
$$;
create trigger entries_protect_accounts after insert on entries
referencing new table as inserted
for each statement execute function check_protected_accounts();

grant select, insert on refunds, disputes, dispute_evidence to gerbang_app;
grant update (status, completed_at) on refunds to gerbang_app;
grant update (status, evidence_due_at, resolved_at) on disputes to gerbang_app;
