-- What costs more the longer a house stands is checked another way here; the rules stay the same.

-- What has been refunded of a payment, and is being refunded: always the sums of its refunds, because only the trigger on refunds
-- writes them. Summing a payment's refunds for each new one made the thousandth a thousand times as dear as the first.
-- Refunds stand still meanwhile: one that another process writes would be in nobody's totals.
lock table refunds in share row exclusive mode;
create table refund_totals (
  merchant_id uuid not null,
  environment environment not null,
  payment_id uuid not null,
  refunded_minor bigint not null check (refunded_minor >= 0),
  pending_minor bigint not null check (pending_minor >= 0),
  primary key (merchant_id, environment, payment_id)
) with (fillfactor = 70);
insert into refund_totals (merchant_id, environment, payment_id, refunded_minor, pending_minor)
select merchant_id, environment, payment_id,
  coalesce(sum(amount_minor) filter (where status = 'succeeded'), 0),
  coalesce(sum(amount_minor) filter (where status = 'pending'), 0)
from refunds
group by merchant_id, environment, payment_id;
grant select on refund_totals to gerbang_app;
create trigger refund_totals_not_truncated before truncate on refund_totals
for each statement execute function refuse_change();

-- The payment is written first; what is checked here, once a statement and payment, is that its refunds agree with it.
create or replace function check_refund_totals() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare
  wrong record;
begin
  if tg_relid <> 'refunds'::regclass then
    raise exception 'this is the trigger of refunds' using errcode = 'GB005';
  end if;
  if tg_op = 'INSERT' then
    insert into refund_totals as t (merchant_id, environment, payment_id, refunded_minor, pending_minor)
    select merchant_id, environment, payment_id,
      coalesce(sum(amount_minor) filter (where status = 'succeeded'), 0),
      coalesce(sum(amount_minor) filter (where status = 'pending'), 0)
    from changed
    group by merchant_id, environment, payment_id
    order by merchant_id, environment, payment_id
    on conflict (merchant_id, environment, payment_id) do update
    set refunded_minor = t.refunded_minor + excluded.refunded_minor, pending_minor = t.pending_minor + excluded.pending_minor;
  else
    update refund_totals t
    set refunded_minor = t.refunded_minor + d.refunded, pending_minor = t.pending_minor + d.pending
    from (
      select merchant_id, environment, payment_id,
        coalesce(sum(sign * amount_minor) filter (where status = 'succeeded'), 0) as refunded,
        coalesce(sum(sign * amount_minor) filter (where status = 'pending'), 0) as pending
      from (
        select merchant_id, environment, payment_id, status, amount_minor, 1 as sign from changed
        union all
        select merchant_id, environment, payment_id, status, amount_minor, -1 from before
      ) moved
      group by merchant_id, environment, payment_id
    ) d
    where t.merchant_id = d.merchant_id and t.environment = d.environment and t.payment_id = d.payment_id
      and (d.refunded <> 0 or d.pending <> 0);
  end if;
  select c.payment_id into wrong
  from (select distinct merchant_id, environment, payment_id from changed) c
  cross join lateral (
    select p.refunded_minor, p.refund_pending_minor
    from payments p
    where p.merchant_id = c.merchant_id and p.environment = c.environment and p.payment_id = c.payment_id
    limit 1
  ) p
  left join lateral (
    select t.refunded_minor, t.pending_minor
    from refund_totals t
    where t.merchant_id = c.merchant_id and t.environment = c.environment and t.payment_id = c.payment_id
    limit 1
  ) t on true
  where p.refunded_minor is distinct from t.refunded_minor or p.refund_pending_minor is distinct from t.pending_minor
  limit 1;
  if found then
    raise exception 'the totals of payment % are not the sums of its refunds', wrong.payment_id using errcode = 'GB008';
  end if;
  return null;
end
$$;
revoke execute on function check_refund_totals() from public;
drop trigger refunds_total_of_changed on refunds;
create trigger refunds_total_of_changed after update on refunds
referencing old table as before new table as changed
for each statement execute function check_refund_totals();

-- As before, but each journal is looked up by its key: as a join it was planned over the whole table while that was small, and the
-- plan stayed when it was not.
create or replace function apply_new_entries() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare
  wrong record;
begin
  if tg_relid <> 'entries'::regclass then
    raise exception 'this is the trigger of entries' using errcode = 'GB005';
  end if;
  -- an entry without a journal, or added later to one that is complete
  select i.seq into wrong
  from (
    select merchant_id, environment, seq, count(*) as lines
    from inserted
    group by merchant_id, environment, seq
  ) i
  where (
      select count(*)
      from journals j
      where j.merchant_id = i.merchant_id and j.environment = i.environment and j.seq = i.seq
    ) = 0
    or i.lines <> (
      select count(*)
      from entries e
      where e.merchant_id = i.merchant_id and e.environment = i.environment and e.seq = i.seq
    )
  limit 1;
  if found then
    raise exception 'journal % is missing or complete already', wrong.seq using errcode = 'GB003';
  end if;
  insert into balances as b (merchant_id, environment, account, currency, debit_minor, credit_minor)
  select merchant_id, environment, account, currency,
    coalesce(sum(amount_minor) filter (where amount_minor > 0), 0),
    coalesce(-sum(amount_minor) filter (where amount_minor < 0), 0)
  from inserted
  group by merchant_id, environment, account, currency
  order by merchant_id, environment, account, currency
  on conflict (merchant_id, environment, account, currency) do update
  set debit_minor = b.debit_minor + excluded.debit_minor,
    credit_minor = b.credit_minor + excluded.credit_minor;
  -- the balance after the last entry of an account is the account's balance
  select l.seq into wrong
  from (
    select distinct on (merchant_id, environment, account, currency) *
    from inserted
    order by merchant_id, environment, account, currency, seq desc, line desc
  ) l
  join balances b using (merchant_id, environment, account, currency)
  where l.balance_after_minor <> b.debit_minor - b.credit_minor
  limit 1;
  if found then
    raise exception 'journal % states a wrong balance', wrong.seq using errcode = 'GB004';
  end if;
  return null;
end
$$;

-- Texts that only the service writes are bounded by their bytes, which are known, and not by their characters, which have to be
-- counted. What is there keeps to the old bound, which was narrower: it need not be read again.
alter table events drop constraint events_body_check,
  add constraint events_body_check check (octet_length(body) <= 1048576) not valid;
alter table idempotency_keys drop constraint idempotency_keys_response_check,
  add constraint idempotency_keys_response_check check (octet_length(response) <= 1048576) not valid;

-- The same letters as before, and lengths bounded apart: counting repetitions inside an expression took twenty times as long as the
-- expression. What is there keeps to them already.
alter table entries drop constraint entries_account_check,
  add constraint entries_account_check check (account ~ '^[a-z]+:[a-z_:]+$' and octet_length(account) <= 100) not valid;
alter table journals drop constraint journals_kind_check,
  add constraint journals_kind_check check (kind ~ '^[a-z_]+$' and octet_length(kind) <= 40) not valid;
alter table payments drop constraint payments_gateway_code_check,
  add constraint payments_gateway_code_check check (gateway_code ~ '^[a-z_]+$' and octet_length(gateway_code) <= 30) not valid;

-- The host and its queue's number as before, without an expression to look for it. The queue's indexes go and come with it. The table
-- is written anew, and nothing is created meanwhile: about ten seconds for a million deliveries.
alter table deliveries drop column queue, drop column host;
alter table deliveries
  add column host text
  generated always as (lower(split_part(split_part(split_part(substr(url, 9), '/', 1), '?', 1), '#', 1))) stored,
  add column queue bigint
  generated always as (('x' || left(md5(lower(
    split_part(split_part(split_part(substr(url, 9), '/', 1), '?', 1), '#', 1)
  )), 16))::bit(64)::bigint) stored;
create index deliveries_first on deliveries (merchant_id, environment, queue, next_attempt_at)
where state = 'pending' and attempts = 0;
create index deliveries_again on deliveries (merchant_id, environment, queue, next_attempt_at)
where state = 'pending' and attempts > 0;
analyze deliveries;

-- Housekeeping by rows that have changed, and not by a share of all there are: a fifth of five million rows, as is the custom, would
-- be one long sweep. Statistics are taken when a table has grown by half: what they say of keys does not change with size, and
-- taking them each second on young tables cost a tenth of a processor and made every plan stale.
alter table seen_signatures set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 500000, autovacuum_analyze_scale_factor = 0.5);
alter table idempotency_keys set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 50000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_insert_threshold = 200000, autovacuum_analyze_scale_factor = 0.5);
alter table payments set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 50000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_insert_threshold = 200000, autovacuum_analyze_scale_factor = 0.5);
-- This one is a queue: what has left it must not stand in the way of who looks for the next.
alter table deliveries set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_insert_threshold = 200000, autovacuum_analyze_scale_factor = 0.2);
alter table delivery_attempts set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 50000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_insert_threshold = 200000, autovacuum_analyze_scale_factor = 0.5);
alter table events set (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_insert_threshold = 200000,
  autovacuum_analyze_scale_factor = 0.5);
alter table journals set (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_insert_threshold = 200000,
  autovacuum_analyze_scale_factor = 0.5);
alter table entries set (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_insert_threshold = 200000,
  autovacuum_analyze_scale_factor = 0.5);
-- A few rows, rewritten with every batch: their dead versions go soon, their statistics mean nothing.
alter table rate_windows set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_threshold = 100000);
alter table balances set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_threshold = 100000);
alter table book_heads set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_threshold = 100000);
