-- Disputes: money that is held while a payer contests a payment, and the merchant's evidence. The type of a dispute's status stands
-- with payments, which hold the status of their newest dispute.

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
  settlement_id uuid, -- the batch a lost dispute is in; null while it waits for one
  primary key (merchant_id, environment, dispute_id),
  foreign key (merchant_id, environment, payment_id) references payments,
  constraint disputes_resolved_at_with_status check ((resolved_at is null) = (status in ('needs_response', 'under_review')))
);
create index disputes_of_payment on disputes (merchant_id, environment, payment_id);
-- One running dispute a payment.
create unique index disputes_running on disputes (merchant_id, environment, payment_id)
where status in ('needs_response', 'under_review');
-- What the expiry of disputes asks, book by book.
create index disputes_unanswered on disputes (merchant_id, environment, evidence_due_at) where status = 'needs_response';
-- What waits for a settlement, by currency, oldest first.
create index disputes_unsettled on disputes (merchant_id, environment, currency, resolved_at)
where status = 'lost' and settlement_id is null;

-- What a dispute may become.
create function check_dispute_change() returns trigger language plpgsql set search_path = public, pg_temp as $$
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

-- A dispute stands as the ledger says: at commit its payment has a journal for each dispute that was opened, and for each that ended as
-- this one did; and what lost disputes took is noted with the payment, so that it is not refunded as well.
create function check_dispute_posted() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  journal text := case when new.status in ('needs_response', 'under_review') then 'opened' else new.status::text end;
begin
  if (
    select count(*)
    from journals j
    where j.merchant_id = new.merchant_id and j.environment = new.environment and j.group_id = new.payment_id
      and j.kind = 'dispute_' || journal
  ) <> (
    select count(*)
    from disputes d
    where d.merchant_id = new.merchant_id and d.environment = new.environment and d.payment_id = new.payment_id
      and (journal = 'opened' or d.status = new.status)
  ) then
    raise exception 'dispute % is % without a journal', new.dispute_id, new.status using errcode = 'GB007';
  end if;
  if (
    select p.lost_minor
    from payments p
    where p.merchant_id = new.merchant_id and p.environment = new.environment and p.payment_id = new.payment_id
  ) <> (
    select coalesce(sum(d.amount_minor), 0)
    from disputes d
    where d.merchant_id = new.merchant_id and d.environment = new.environment and d.payment_id = new.payment_id
      and d.status = 'lost'
  ) then
    raise exception 'what payment % lost is not what its disputes took', new.payment_id using errcode = 'GB007';
  end if;
  return null;
end
$$;
create constraint trigger disputes_posted after insert or update of status on disputes deferrable initially deferred
for each row execute function check_dispute_posted();

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

grant select, insert on disputes, dispute_evidence to gerbang_app;
grant update (status, evidence_due_at, resolved_at, settlement_id) on disputes to gerbang_app;
