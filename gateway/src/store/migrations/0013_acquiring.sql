-- Acquirers that are called over a network: operations step by step, receipts of money, reconciliation exceptions, the messages exchanged,
-- disputes that begin with acquirers, and messages that match no operation.

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
  -- What the acquirer calls the present attempt: an object of a few short texts. `account` is a number that a payer was given to pay to.
  provider_ids jsonb check (jsonb_typeof(provider_ids) = 'object' and length(provider_ids::text) <= 4096),
  -- An acquirer's fraud detection may want a person to say whether it takes the money of a payment: an operator judges, and a worker tells it.
  review text check (review in ('asked', 'approve', 'refuse')),
  created_at timestamptz not null,
  primary key (merchant_id, environment, operation_id),
  foreign key (merchant_id, environment, payment_id) references payments,
  constraint acquirer_operations_due_with_step check ((due_at is null) = (step in ('retryable', 'done'))),
  constraint acquirer_operations_of_payment check (kind <> 'payment' or operation_id = payment_id),
  constraint acquirer_operations_review_of_payment check (review is null or kind = 'payment')
) with (fillfactor = 70);
-- What the worker claims: everything that is due, of all merchants.
create index acquirer_operations_due on acquirer_operations (due_at) where due_at is not null;
-- Where a request that is sent again goes on.
create index acquirer_operations_key on acquirer_operations (merchant_id, environment, idempotency_key)
where idempotency_key is not null;
-- Whom a number was given to, when money comes to it.
create index acquirer_operations_account on acquirer_operations (gateway_code, (provider_ids ->> 'account'), created_at)
where provider_ids ->> 'account' is not null;
-- What waits for an operator, and what operators see of outcomes that stay unknown. Each index holds only these.
create index acquirer_operations_review on acquirer_operations (operation_id) where review = 'asked';
create index acquirer_operations_unknown on acquirer_operations (operation_id) where step = 'inquiring';

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
  fee_minor bigint check (fee_minor between 0 and 9007199254740991), -- what the acquirer keeps of it, where it says so
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
-- A payment is paid once: money beyond that stays unapplied.
create unique index receipts_applied on receipts (merchant_id, environment, payment_id) where status = 'applied';
-- What waits for a decision, for the operator's queue. The index holds only these.
create index receipts_unapplied on receipts (receipt_id) where status = 'unapplied';
-- What waits for a settlement, by currency, oldest first.
create index receipts_unsettled on receipts (merchant_id, environment, currency, decided_at)
where status = 'credited' and settlement_id is null;
-- Operators read receipts of all merchants by their identity, and in its order. Few need a decision: the second index holds only those that
-- have one.
create index receipts_of_all on receipts (receipt_id);
create index receipts_decided on receipts (receipt_id) where decided_at is not null;

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

-- Money stands where the receipt says: at commit what is applied has its capture, and there is a journal for each receipt of the payment that
-- was not, and for each of them that was decided as this one.
-- It runs for each receipt: tables are named with their schema, because setting a search path costs time at each call.
create function check_receipt_posted() returns trigger language plpgsql as $$
begin
  if new.status = 'applied' then
    if not exists (
      select from public.journals j
      where j.merchant_id = new.merchant_id and j.environment = new.environment and j.group_id = new.payment_id
        and j.kind = 'capture'
    ) then
      raise exception 'receipt % is applied without a capture', new.receipt_id using errcode = 'GB007';
    end if;
  elsif (
    select count(*)
    from public.journals j
    where j.merchant_id = new.merchant_id and j.environment = new.environment and j.group_id = new.payment_id
      and j.kind = 'receipt_' || new.status
  ) <> (
    select count(*)
    from public.receipts r
    where r.merchant_id = new.merchant_id and r.environment = new.environment and r.payment_id = new.payment_id
      and (r.status = new.status or (new.status = 'unapplied' and r.status <> 'applied'))
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
  kind text not null check (
    kind in (
      'refund_after_failure', 'refund_twice', 'refund_undone', 'refund_elsewhere', 'other_money', 'receipt', 'forgotten', 'dispute',
      'evidence'
    )
  ),
  gateway_code text not null check (gateway_code ~ '^[a-z_]{1,30}$'),
  noticed_at timestamptz not null,
  occasions json not null default '[]' check (json_array_length(occasions) <= 32), -- what an acquirer calls the things it is about, or said of them
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
-- Operators read those of all merchants in the order of their identity.
create index reconciliation_exceptions_of_all on reconciliation_exceptions (exception_id);

-- Messages exchanged about an operation, without secrets and without what names a person.
create table acquirer_messages (
  merchant_id uuid not null,
  environment environment not null,
  operation_id uuid not null,
  digest bytea not null check (length(digest) = 32), -- of the message: the same message is kept once
  payment_id uuid not null,
  operation_kind text not null check (operation_kind in ('payment', 'refund')),
  gateway_code text not null check (gateway_code ~ '^[a-z_]{1,30}$'),
  attempt smallint not null,
  call text not null check (
    call in ('open', 'inquire', 'cancel', 'judge', 'refund', 'inquire_refund', 'submit_evidence', 'report')
  ),
  about text not null check (length(about) <= 200),
  status smallint,
  text text not null check (length(text) <= 8192),
  exchanged_at timestamptz not null,
  primary key (merchant_id, environment, operation_id, digest)
);
create index acquirer_messages_payment on acquirer_messages (merchant_id, environment, payment_id, exchanged_at);
create index acquirer_messages_exchanged_at on acquirer_messages (exchanged_at);

-- Disputes that begin with an acquirer, and what they are here.
create table acquirer_disputes (
  merchant_id uuid not null,
  environment environment not null,
  gateway_code text not null check (gateway_code ~ '^[a-z_]{1,30}$'),
  acquirer_dispute_id text not null check (acquirer_dispute_id ~ '^[!-~]{1,64}$'),
  dispute_id uuid not null,
  payment_id uuid not null,
  evidence_ended_at timestamptz, -- when the merchant's evidence reached the acquirer, or was refused there
  evidence_due_at timestamptz not null, -- when a worker looks next whether there is evidence to hand on
  evidence_tries integer not null default 0 check (evidence_tries >= 0),
  primary key (merchant_id, environment, gateway_code, acquirer_dispute_id),
  foreign key (merchant_id, environment, dispute_id) references disputes,
  foreign key (merchant_id, environment, payment_id) references payments
);
create index acquirer_disputes_due on acquirer_disputes (evidence_due_at) where evidence_ended_at is null;
create unique index acquirer_disputes_dispute on acquirer_disputes (merchant_id, environment, dispute_id);

-- What an acquirer proved to have sent and could not be taken: about nothing of ours, about an attempt that was given up, against what is known,
-- or in words that cannot be read. It moves nothing.
create table stray_messages (
  gateway_code text not null check (gateway_code ~ '^[a-z_]{1,30}$'),
  digest bytea not null check (length(digest) = 32),
  reason text not null check (reason in ('unknown operation', 'refused', 'earlier attempt', 'unreadable')),
  operation_key text not null check (length(operation_key) <= 64),
  kind text check (kind in ('payment', 'refund', 'look', 'dispute', 'refund_elsewhere')), -- null where it cannot be read
  about text check (length(about) <= 200),
  text text check (length(text) <= 8192),
  times integer not null default 1 check (times >= 1),
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (gateway_code, digest),
  constraint stray_messages_kind_told check ((kind is null) = (reason = 'unreadable'))
);
create index stray_messages_newest on stray_messages (gateway_code, last_at);
create index stray_messages_last_at on stray_messages (last_at);

grant select, insert on acquirer_operations, receipts, reconciliation_exceptions to gerbang_app;
grant update (step, gateway_code, attempt, round, refused_by, idempotency_key, inquiries, due_at, provider_ids, review)
on acquirer_operations to gerbang_app;
grant update (status, decided_at, settlement_id) on receipts to gerbang_app;
grant update (occasions, closed_at, note) on reconciliation_exceptions to gerbang_app;
grant select, insert, delete on acquirer_messages to gerbang_app;
grant select, insert on acquirer_disputes to gerbang_app;
grant update (evidence_ended_at, evidence_due_at, evidence_tries) on acquirer_disputes to gerbang_app;
grant select, insert, update (times, last_at), delete on stray_messages to gerbang_app;
