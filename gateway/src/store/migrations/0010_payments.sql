-- Payments, the states they may take, and what merchants say of who pays.

create type payment_status as enum (
  'pending', 'processing', 'succeeded', 'failed', 'expired', 'canceled', 'partially_refunded', 'refunded'
);
create type payment_method as enum ('qris', 'va', 'card', 'ewallet', 'bank_transfer');
create type dispute_status as enum ('needs_response', 'under_review', 'won', 'lost', 'withdrawn');

-- The keys of payers' data, themselves sealed under the master key: replacing that one writes these few rows, and no payment. The newest of
-- "seal" seals; every one opens what it has sealed. There is one of "contacts" for ever, or no payer would be found again.
create table payer_keys (
  key_id uuid primary key,
  purpose text not null check (purpose in ('seal', 'contacts')),
  key_sealed bytea not null check (length(key_sealed) between 30 and 400),
  created_at timestamptz not null
);
create unique index payer_keys_contacts on payer_keys (purpose) where purpose = 'contacts';

-- One payment intent. Amounts are minor units; metadata, instructions, risk and routing are kept as written.
-- Vacuum and statistics run by the number of changed rows, not by a fifth of the table: that would be one long run over millions of
-- rows.
create table payments (
  merchant_id uuid not null,
  environment environment not null,
  payment_id uuid not null,
  status payment_status not null,
  amount_minor bigint not null check (amount_minor between 1 and 9007199254740991),
  fee_minor bigint not null constraint payments_fee_within_amount check (fee_minor between 0 and amount_minor),
  refunded_minor bigint not null default 0, -- within the amount, since its status says how much it may be
  refund_pending_minor bigint not null default 0 check (refund_pending_minor >= 0), -- of refunds under way, reversed already
  lost_minor bigint not null default 0 check (lost_minor >= 0), -- of disputes that were lost
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null, -- while the payment is under review: the time limit of the review
  paid_at timestamptz,
  canceled_at timestamptz,
  expires_in integer check (expires_in between 60 and 86400), -- what the merchant asked for, counted from an approval
  payment_method payment_method not null,
  dispute_status dispute_status, -- of the newest dispute
  risk_score smallint not null check (risk_score between 0 and 100),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  reference_id text not null check (length(reference_id) between 1 and 64),
  -- Letters and length are checked apart: a count in the regular expression took twenty times as long.
  gateway_code text check (gateway_code ~ '^[a-z_]+$' and octet_length(gateway_code) <= 30),
  risk_decision text not null check (risk_decision in ('approve', 'review', 'reject')),
  description text check (length(description) <= 255),
  cancel_reason text check (length(cancel_reason) <= 255),
  callback_url text check (callback_url like 'https://%' and length(callback_url) <= 2048),
  -- Real payers go back to https alone. A developer who tries the sandbox goes back to a program of their own machine, which has no
  -- certificate.
  return_url text constraint payments_return_url_check check (
    length(return_url) <= 2048
    and (
      return_url like 'https://%'
      or (environment = 'sandbox' and return_url ~ '^http://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?([/?#]|$)')
    )
  ),
  customer_key bytea check (length(customer_key) = 16), -- of the customer's e-mail address, else of the telephone
  phone_key bytea check (length(phone_key) = 16), -- of the telephone of a customer who gave an e-mail address as well
  -- What the merchant says of the payer (name, e-mail address, telephone): sealed at rest, found by the keyed digests above, and erased for good.
  customer_sealed bytea constraint payments_customer_sealed_length check (length(customer_sealed) between 33 and 8192),
  payer_erased_at timestamptz,
  metadata json,
  instructions json,
  risk_reasons json not null,
  routing json not null,
  settlement_id uuid, -- the batch it is in; null while it waits for one
  -- The link that it came by, and that link's own word on whether it may be used again.
  link_id uuid,
  link_reusable boolean,
  primary key (merchant_id, environment, payment_id),
  foreign key (merchant_id, environment) references books,
  constraint payments_link foreign key (merchant_id, environment, link_id, link_reusable)
  references payment_links (merchant_id, environment, link_id, reusable),
  constraint payments_link_whole check (num_nulls(link_id, link_reusable) <> 1),
  constraint payments_paid_at_with_status check ((paid_at is not null) = (status in ('succeeded', 'partially_refunded', 'refunded'))),
  constraint payments_canceled_at_with_status check ((canceled_at is not null) = (status = 'canceled')),
  constraint payments_refunded_whole check (status <> 'refunded' or refunded_minor = amount_minor),
  constraint payments_refunded_part check (status <> 'partially_refunded' or refunded_minor between 1 and amount_minor - 1),
  constraint payments_refunded_with_status check (refunded_minor = 0 or status in ('partially_refunded', 'refunded')),
  constraint payments_refunds_within_amount check (refunded_minor + refund_pending_minor + lost_minor <= amount_minor),
  constraint payments_payer_erased check (
    payer_erased_at is null
    or (customer_sealed is null and customer_key is null and phone_key is null)
  )
) with (
  fillfactor = 85,
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 50000,
  -- A vacuum marks the pages of new payments as visible to all, and velocities are then counted from the index without visiting them.
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 5000, autovacuum_analyze_scale_factor = 0.5
);
-- No query searches by these columns, and statistics of them cost time.
alter table payments
  alter column fee_minor set statistics 0,
  alter column refunded_minor set statistics 0,
  alter column refund_pending_minor set statistics 0,
  alter column lost_minor set statistics 0,
  alter column expires_in set statistics 0,
  alter column description set statistics 0,
  alter column callback_url set statistics 0,
  alter column return_url set statistics 0,
  alter column metadata set statistics 0,
  alter column instructions set statistics 0,
  alter column risk_score set statistics 0,
  alter column risk_reasons set statistics 0,
  alter column routing set statistics 0,
  alter column cancel_reason set statistics 0,
  alter column canceled_at set statistics 0,
  alter column updated_at set statistics 0,
  alter column customer_sealed set statistics 0,
  alter column payer_erased_at set statistics 0,
  alter column link_reusable set statistics 0;

-- The merchant's own identity of the order, unique whatever became of the payment.
create unique index payments_reference on payments (merchant_id, environment, reference_id);
-- What the expiry worker asks: of production for all books together, of sandboxes book by book, because each has a clock of its own. A payment is in
-- one of the two.
create index payments_expiring on payments (expires_at) where environment = 'production' and status = 'pending';
create index payments_expiring_in_sandbox on payments (merchant_id, environment, expires_at)
where environment = 'sandbox' and status = 'pending';
-- How often one customer came, for the risk engine, by each contact that was given. A payment with one contact is only in the first.
create index payments_customer on payments (merchant_id, environment, customer_key, payment_id) where customer_key is not null;
create index payments_phone on payments (merchant_id, environment, phone_key, payment_id) where phone_key is not null;
-- What waits for a settlement, by currency, oldest first.
create index payments_unsettled on payments (merchant_id, environment, currency, paid_at)
where paid_at is not null and settlement_id is null;
-- What waits for a decision, for the operator's queue. The index holds only these.
create index payments_under_review on payments (payment_id) where risk_decision = 'review' and status = 'pending';

-- A link that is used once has one payment that is open or paid, whoever asks at the same moment.
create unique index payments_link_once on payments (merchant_id, environment, link_id)
where link_id is not null and not link_reusable
  and status in ('pending', 'processing', 'succeeded', 'partially_refunded', 'refunded');
-- A link's payments, newest first, and how many came lately.
create index payments_of_link on payments (merchant_id, environment, link_id, payment_id) where link_id is not null;

-- The states in which a payment may begin.
create function refuse_first_status() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  raise exception 'a payment cannot begin as %', new.status using errcode = 'GB006';
end
$$;
create trigger payments_begin before insert on payments
for each row when (new.status not in ('pending', 'failed'))
execute function refuse_first_status();

-- What a payment may become, called only where its status changes. As a condition of the trigger this list would cost more: each
-- statement reads such a condition anew, 120 microseconds for all of this one, where a call for one row takes 4. It reads no table, so it sets no
-- search path.
create function check_payment_transition() returns trigger language plpgsql as $$
begin
  if not (case old.status
    when 'pending' then new.status in ('processing', 'succeeded', 'failed', 'expired', 'canceled')
    when 'processing' then new.status in ('succeeded', 'failed')
    when 'succeeded' then new.status in ('partially_refunded', 'refunded')
    when 'partially_refunded' then new.status = 'refunded'
    else false
  end) then
    raise exception 'a payment cannot go from % to %', old.status, new.status using errcode = 'GB006';
  end if;
  return new;
end
$$;
create trigger payments_transition before update of status on payments
for each row when (old.status <> new.status)
execute function check_payment_transition();

-- What may not change, whatever the status.
create function refuse_payment_change() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  raise exception 'payment %: %', old.payment_id, tg_argv[0] using errcode = 'GB006';
end
$$;
create trigger payments_origin
before update of merchant_id, environment, payment_id, amount_minor, fee_minor, currency, reference_id, created_at on payments
for each row execute function refuse_payment_change('what it was created with cannot change');
create trigger payments_refunded before update of refunded_minor on payments
for each row when (new.refunded_minor < old.refunded_minor)
execute function refuse_payment_change('refunds are not taken back');
create trigger payments_lost before update of lost_minor on payments
for each row when (new.lost_minor < old.lost_minor)
execute function refuse_payment_change('what a dispute has lost is not taken back');

-- A payment by a link is of the link's currency and within its amounts, and began while the link was open.
create function check_payment_of_link() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if not exists (
    select from payment_links l
    where l.merchant_id = new.merchant_id and l.environment = new.environment and l.link_id = new.link_id
      and l.currency = new.currency
      and new.amount_minor between coalesce(l.amount_minor, l.minimum_minor, 1)
        and coalesce(l.amount_minor, l.maximum_minor, 9007199254740991)
      and l.deactivated_at is null
      and (l.expires_at is null or l.expires_at > new.created_at)
  ) then
    raise exception 'payment %: its link does not allow it', new.payment_id using errcode = 'GB006';
  end if;
  return new;
end
$$;
create trigger payments_by_link before insert on payments
for each row when (new.link_id is not null)
execute function check_payment_of_link();
create trigger payments_link_origin before update of link_id, link_reusable on payments
for each row execute function refuse_payment_change('the link that it came by cannot change');

-- What is known of a payer is sealed once and erased once. It does not become another's.
create function check_payer_change() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if old.payer_erased_at is null and new.payer_erased_at is not null then
    return new;
  end if;
  raise exception 'payment %: who pays cannot change', old.payment_id using errcode = 'GB006';
end
$$;
create trigger payments_payer
before update of customer_sealed, customer_key, phone_key, payer_erased_at on payments
for each row execute function check_payer_change();

-- How a payment is paid is written once: with the payment, by an approval, or by the acquirer's answer that came later.
create function check_payment_review() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if old.risk_decision = 'review' and old.status = 'pending' then
    return new;
  end if;
  if (old.risk_decision, old.expires_at) is distinct from (new.risk_decision, new.expires_at)
    or (old.gateway_code is not null and new.gateway_code is distinct from old.gateway_code)
    or (old.instructions is not null and new.instructions::text is distinct from old.instructions::text)
    or (old.status not in ('pending', 'processing') and new.gateway_code is distinct from old.gateway_code)
  then
    raise exception 'how a payment is paid cannot change' using errcode = 'GB006';
  end if;
  return new;
end
$$;
create trigger payments_review before update of risk_decision, gateway_code, instructions, expires_at on payments
for each row execute function check_payment_review();

-- A payment is paid when the ledger says so: at commit there is exactly its capture, or the payment did not succeed.
-- It runs for each payment that is paid: the table is named with its schema, because setting a search path costs time at each call.
create function check_payment_captured() returns trigger language plpgsql as $$
begin
  if not exists (
    select from public.journals j
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

grant select, insert, update (key_sealed) on payer_keys to gerbang_app;
-- What may change after creation, and nothing else.
grant select, insert on payments to gerbang_app;
grant update (
  status, refunded_minor, refund_pending_minor, lost_minor, dispute_status, updated_at, paid_at, canceled_at, cancel_reason, settlement_id
) on payments to gerbang_app;
-- A payment that waited for review gets its acquirer, instructions and time when it is approved.
grant update (risk_decision, gateway_code, instructions, routing, expires_at) on payments to gerbang_app;
grant update (customer_sealed, customer_key, phone_key, payer_erased_at) on payments to gerbang_app;
