-- Acquirers that are called over a network: operations step by step, receipts of money, and reconciliation exceptions.

-- One payment or refund that an acquirer carries out. Each step is committed before the call that follows it, so after a crash
-- between two steps a worker inquires, and no call is made twice.
create table acquirer_operations (
  merchant_id uuid not null,
  environment environment not null,
  operation_id uuid not null, -- of the payment or the refund
  kind text not null check (kind in ('payment', 'refund')),
  payment_id uuid not null,
  -- planned: a worker makes the call. calling: somebody makes it now. inquiring: its outcome is unknown. retryable: certainly not
  -- done, and the merchant's next try goes on. polling: open, a worker inquires from time to time. done: nothing is left.
  step text not null check (step in ('planned', 'calling', 'inquiring', 'retryable', 'polling', 'done')),
  gateway_code text not null check (gateway_code ~ '^[a-z_]{1,30}$'),
  attempt smallint not null check (attempt between 1 and 10000), -- each call of its own has its own operation key
  round smallint not null check (round between 0 and 10000), -- how often all acquirers have refused it
  refused_by text not null default '' check (length(refused_by) <= 2000), -- in this round, comma-separated
  idempotency_key text check (length(idempotency_key) between 8 and 255), -- of the request that waits for its outcome
  inquiries integer not null default 0 check (inquiries >= 0), -- inquiries since the last call
  due_at timestamptz, -- by the real clock: acquirers do not live in a sandbox's time
  created_at timestamptz not null,
  primary key (merchant_id, environment, operation_id),
  foreign key (merchant_id, environment, payment_id) references payments,
  constraint acquirer_operations_due_with_step check ((due_at is null) = (step in ('retryable', 'done'))),
  constraint acquirer_operations_of_payment check (kind <> 'payment' or operation_id = payment_id)
) with (fillfactor = 70);
-- What the worker claims: everything that is due, of all merchants.
create index acquirer_operations_due on acquirer_operations (due_at) where due_at is not null;
-- Where a request that is sent again goes on.
create index acquirer_operations_key on acquirer_operations (merchant_id, environment, idempotency_key)
where idempotency_key is not null;

-- Money that an acquirer says it received for a payment. One transaction of an acquirer counts once, however often it is
-- reported. What no payment awaits stays unapplied until an operator decides.
create table receipts (
  merchant_id uuid not null,
  environment environment not null,
  receipt_id uuid not null,
  gateway_code text not null check (gateway_code ~ '^[a-z_]{1,30}$'),
  transaction_id text not null check (transaction_id ~ '^[!-~]{1,64}$'),
  payment_id uuid not null,
  amount_minor bigint not null check (amount_minor between 1 and 9007199254740991),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  status text not null check (status in ('applied', 'unapplied', 'returned', 'credited')),
  received_at timestamptz not null,
  decided_at timestamptz,
  settlement_id uuid, -- the batch a credited receipt is in; null while it waits for one
  primary key (merchant_id, environment, receipt_id),
  foreign key (merchant_id, environment, payment_id) references payments,
  constraint receipts_decided_at_with_status check ((decided_at is not null) = (status in ('returned', 'credited')))
);
create unique index receipts_transaction on receipts (merchant_id, environment, gateway_code, transaction_id);
create index receipts_payment on receipts (merchant_id, environment, payment_id);
-- What waits for a decision, for the operator's queue. The index holds only these.
create index receipts_unapplied on receipts (receipt_id) where status = 'unapplied';
-- What waits for a settlement, by currency, oldest first.
create index receipts_unsettled on receipts (merchant_id, environment, currency, decided_at)
where status = 'credited' and settlement_id is null;

-- The states in which a receipt may begin.
create function refuse_first_receipt() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  raise exception 'a receipt cannot begin as %', new.status using errcode = 'GB006';
end
$$;
create trigger receipts_begin before insert on receipts
for each row when (new.status not in ('applied', 'unapplied'))
execute function refuse_first_receipt();

-- What a receipt may become. The batch it is settled in is not among it: that changes nothing of what was decided.
create function check_receipt_change() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if old.status <> 'unapplied' or new.status not in ('returned', 'credited') then
    raise exception 'a receipt cannot go from % to %', old.status, new.status using errcode = 'GB006';
  end if;
  return new;
end
$$;
create trigger receipts_change before update of status, decided_at on receipts
for each row execute function check_receipt_change();

-- Money stands where the receipt says: at commit the journal is there, or the receipt is not.
-- It runs for each receipt: the table is named with its schema, because setting a search path costs time at each call.
create function check_receipt_posted() returns trigger language plpgsql as $$
begin
  if not exists (
    select from public.journals j
    where j.merchant_id = new.merchant_id and j.environment = new.environment and j.group_id = new.payment_id
      and j.kind = case new.status when 'applied' then 'capture' else 'receipt_' || new.status end
  ) then
    raise exception 'receipt % is % without a journal', new.receipt_id, new.status using errcode = 'GB007';
  end if;
  return null;
end
$$;
create constraint trigger receipts_posted after insert or update of status on receipts deferrable initially deferred
for each row execute function check_receipt_posted();

-- Reconciliation exceptions: what an acquirer said or did that disagrees with our records, such as a refund that it paid twice. A person
-- has to look at each, once.
create table reconciliation_exceptions (
  merchant_id uuid not null,
  environment environment not null,
  exception_id uuid not null,
  operation_id uuid not null, -- of the payment or the refund
  attempt smallint not null,
  kind text not null check (kind in ('refund_after_failure', 'refund_twice', 'receipt', 'forgotten')),
  gateway_code text not null check (gateway_code ~ '^[a-z_]{1,30}$'),
  noticed_at timestamptz not null,
  -- Set when an operator has dealt with it, with what was done.
  closed_at timestamptz,
  note text check (length(note) between 1 and 1000),
  primary key (merchant_id, environment, exception_id),
  foreign key (merchant_id, environment, operation_id) references acquirer_operations,
  constraint reconciliation_exceptions_closed_with_note check ((closed_at is null) = (note is null))
);
create unique index reconciliation_exceptions_once on reconciliation_exceptions (merchant_id, environment, operation_id, attempt, kind);
-- What waits for an operator. The index holds only these.
create index reconciliation_exceptions_open on reconciliation_exceptions (exception_id) where closed_at is null;

grant select, insert on acquirer_operations, receipts, reconciliation_exceptions to gerbang_app;
grant update (step, gateway_code, attempt, round, refused_by, idempotency_key, inquiries, due_at) on acquirer_operations to gerbang_app;
grant update (status, decided_at, settlement_id) on receipts to gerbang_app;
grant update (closed_at, note) on reconciliation_exceptions to gerbang_app;
