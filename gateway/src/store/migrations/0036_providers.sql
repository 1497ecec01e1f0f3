-- What real providers need beyond our own protocol: their own names for things, the messages exchanged with them, disputes that begin with them, and
-- messages that match no operation.

-- What the acquirer calls the present attempt: an object of a few short texts. `account` is a number that a payer was given to pay to.
alter table acquirer_operations add column provider_ids jsonb
  check (jsonb_typeof(provider_ids) = 'object' and length(provider_ids::text) <= 4096);
create index acquirer_operations_account on acquirer_operations (gateway_code, (provider_ids ->> 'account'), created_at)
where provider_ids ->> 'account' is not null;
grant update (provider_ids) on acquirer_operations to gerbang_app;

-- What an acquirer keeps of the money it received, where it says so.
alter table receipts add column fee_minor bigint check (fee_minor between 0 and 9007199254740991);

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
  call text not null check (call in ('open', 'inquire', 'refund', 'inquire_refund', 'submit_evidence', 'report')),
  about text not null check (length(about) <= 200),
  status smallint,
  text text not null check (length(text) <= 8192),
  exchanged_at timestamptz not null,
  primary key (merchant_id, environment, operation_id, digest)
);
create index acquirer_messages_payment on acquirer_messages (merchant_id, environment, payment_id, exchanged_at);
create index acquirer_messages_exchanged_at on acquirer_messages (exchanged_at);
grant select, insert, delete on acquirer_messages to gerbang_app;

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
grant select, insert on acquirer_disputes to gerbang_app;
grant update (evidence_ended_at, evidence_due_at, evidence_tries) on acquirer_disputes to gerbang_app;

-- What an acquirer proved to have sent and could not be taken: about nothing of ours, or against what is known. It moves nothing.
create table stray_messages (
  gateway_code text not null check (gateway_code ~ '^[a-z_]{1,30}$'),
  digest bytea not null check (length(digest) = 32),
  reason text not null check (reason in ('unknown operation', 'refused')),
  operation_key text not null check (length(operation_key) <= 64),
  kind text not null check (kind in ('payment', 'refund', 'look', 'dispute')),
  about text check (length(about) <= 200),
  text text check (length(text) <= 8192),
  times integer not null default 1 check (times >= 1),
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (gateway_code, digest)
);
create index stray_messages_newest on stray_messages (gateway_code, last_at);
create index stray_messages_last_at on stray_messages (last_at);
grant select, insert, update (times, last_at), delete on stray_messages to gerbang_app;

alter table reconciliation_exceptions drop constraint reconciliation_exceptions_kind_check;
alter table reconciliation_exceptions add constraint reconciliation_exceptions_kind_check
  check (kind in ('refund_after_failure', 'refund_twice', 'refund_undone', 'receipt', 'forgotten', 'dispute', 'evidence'));
