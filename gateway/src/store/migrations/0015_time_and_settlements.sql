-- Time that passes in order, batches of any size, and what acquirers did that cannot be.

-- Where a sandbox's clock is going: it stops on the way at every moment at which something falls due. Null while it stands.
alter table books add column clock_target_seconds bigint;
alter table books add constraint books_clock_target check (clock_target_seconds > clock_offset_seconds and clock_target_seconds <= 3153600000);
-- When it last moved, in real time: one that stands still on its way has been left by whoever moved it.
alter table books add column clock_moved_at timestamptz;
create index books_moving on books (clock_moved_at) where clock_target_seconds is not null;

-- What waits for a batch is looked for by currency, oldest first.
drop index payments_unsettled;
create index payments_unsettled on payments (merchant_id, environment, currency, paid_at)
where paid_at is not null and settlement_id is null;
drop index refunds_unsettled;
create index refunds_unsettled on refunds (merchant_id, environment, currency, completed_at)
where status = 'succeeded' and settlement_id is null;
drop index disputes_unsettled;
create index disputes_unsettled on disputes (merchant_id, environment, currency, resolved_at)
where status = 'lost' and settlement_id is null;
drop index receipts_unsettled;
create index receipts_unsettled on receipts (merchant_id, environment, currency, decided_at)
where status = 'credited' and settlement_id is null;

-- What an acquirer said or did that cannot be, such as a refund that it paid twice. A person has to look at each, once.
create table contradictions (
  merchant_id uuid not null,
  environment environment not null,
  contradiction_id uuid not null,
  operation_id uuid not null, -- of the payment or the refund
  attempt smallint not null,
  kind text not null check (kind in ('refund_after_failure', 'refund_twice', 'receipt', 'forgotten')),
  gateway_code text not null check (gateway_code ~ '^[a-z_]{1,30}$'),
  noticed_at timestamptz not null,
  -- Set when an operator has dealt with it, with what was done.
  closed_at timestamptz,
  note text check (length(note) between 1 and 1000),
  primary key (merchant_id, environment, contradiction_id),
  foreign key (merchant_id, environment, operation_id) references acquirer_operations,
  check ((closed_at is null) = (note is null))
);
create unique index contradictions_once on contradictions (merchant_id, environment, operation_id, attempt, kind);
create index contradictions_open on contradictions (contradiction_id) where closed_at is null;
grant select, insert on contradictions to gerbang_app;
grant update (closed_at, note) on contradictions to gerbang_app;
