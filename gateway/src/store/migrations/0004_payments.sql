-- Payments and the states they may take.

create type payment_status as enum (
  'pending', 'processing', 'succeeded', 'failed', 'expired', 'canceled', 'partially_refunded', 'refunded'
);
create type payment_method as enum ('qris', 'va', 'card', 'ewallet', 'bank_transfer');

-- One payment intent. Amounts are minor units; metadata, customer, instructions, risk and routing are kept as written.
create table payments (
  merchant_id uuid not null,
  environment environment not null,
  payment_id uuid not null,
  status payment_status not null,
  amount_minor bigint not null check (amount_minor between 1 and 9007199254740991),
  fee_minor bigint not null check (fee_minor between 0 and amount_minor),
  refunded_minor bigint not null default 0 check (refunded_minor between 0 and amount_minor),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null,
  paid_at timestamptz,
  canceled_at timestamptz,
  payment_method payment_method not null,
  risk_score smallint not null check (risk_score between 0 and 100),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  reference_id text not null check (length(reference_id) between 1 and 64),
  gateway_code text check (gateway_code ~ '^[a-z_]{1,30}$'),
  risk_decision text not null check (risk_decision in ('approve', 'review', 'reject')),
  description text check (length(description) <= 255),
  cancel_reason text check (length(cancel_reason) <= 255),
  callback_url text check (callback_url like 'https://%' and length(callback_url) <= 2048),
  customer_key bytea check (length(customer_key) = 16),
  customer json,
  metadata json,
  instructions json,
  risk_reasons json not null,
  routing json not null,
  primary key (merchant_id, environment, payment_id),
  foreign key (merchant_id, environment) references books,
  check ((paid_at is not null) = (status in ('succeeded', 'partially_refunded', 'refunded'))),
  check ((canceled_at is not null) = (status = 'canceled')),
  check (status <> 'refunded' or refunded_minor = amount_minor),
  check (status <> 'partially_refunded' or refunded_minor between 1 and amount_minor - 1),
  check (refunded_minor = 0 or status in ('partially_refunded', 'refunded'))
) with (fillfactor = 85);

-- The merchant's own identity of the order, unique whatever became of the payment.
create unique index payments_reference on payments (merchant_id, environment, reference_id);
-- What the expiry worker asks, book by book.
create index payments_expiring on payments (merchant_id, environment, expires_at) where status = 'pending';
-- How often one customer came, for the risk engine.
create index payments_customer on payments (merchant_id, environment, customer_key, payment_id) where customer_key is not null;

-- Every transition there is. Whatever is not in this list cannot happen.
create function check_payment_change() returns trigger language plpgsql as $$
begin
  if (old.status::text || ' > ' || new.status::text) not in (
    'pending > processing', 'pending > succeeded', 'pending > failed', 'pending > expired', 'pending > canceled',
    'processing > succeeded', 'processing > failed',
    'succeeded > partially_refunded', 'succeeded > refunded', 'partially_refunded > refunded'
  ) and old.status <> new.status then
    raise exception 'a payment cannot go from % to %', old.status, new.status using errcode = 'GB006';
  end if;
  if (old.merchant_id, old.environment, old.payment_id, old.amount_minor, old.fee_minor, old.currency, old.reference_id, old.created_at)
    is distinct from
    (new.merchant_id, new.environment, new.payment_id, new.amount_minor, new.fee_minor, new.currency, new.reference_id, new.created_at)
  then
    raise exception 'what a payment was created with cannot change' using errcode = 'GB006';
  end if;
  if new.refunded_minor < old.refunded_minor then
    raise exception 'refunds are not taken back' using errcode = 'GB006';
  end if;
  return new;
end
$$;
create trigger payments_change before update on payments
for each row execute function check_payment_change();

create function refuse_first_status() returns trigger language plpgsql as $$
begin
  raise exception 'a payment cannot begin as %', new.status using errcode = 'GB006';
end
$$;
create trigger payments_begin before insert on payments
for each row when (new.status not in ('pending', 'failed'))
execute function refuse_first_status();

-- A payment is paid when the ledger says so: at commit there is exactly its capture, or the payment did not succeed.
create function check_payment_captured() returns trigger language plpgsql as $$
begin
  if not exists (
    select from journals j
    where j.merchant_id = new.merchant_id and j.environment = new.environment and j.group_id = new.payment_id
      and j.kind = 'capture'
  ) then
    raise exception 'payment % succeeded without a capture in the ledger', new.payment_id using errcode = 'GB007';
  end if;
  return null;
end
$$;
create constraint trigger payments_captured after update on payments deferrable initially deferred
for each row when (old.status <> new.status and new.status = 'succeeded')
execute function check_payment_captured();

-- What may change after creation, and nothing else.
grant select, insert on payments to gerbang_app;
grant update (status, refunded_minor, updated_at, paid_at, canceled_at, cancel_reason) on payments to gerbang_app;
