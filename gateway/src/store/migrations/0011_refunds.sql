-- Refunds: money that goes back to a payer, and the totals of each payment's refunds.

create type refund_status as enum ('pending', 'succeeded', 'failed');

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
  settlement_id uuid, -- the batch it is in; null while it waits for one
  primary key (merchant_id, environment, refund_id),
  foreign key (merchant_id, environment, payment_id) references payments,
  constraint refunds_completed_at_with_status check ((completed_at is null) = (status = 'pending'))
);
create index refunds_of_payment on refunds (merchant_id, environment, payment_id);
-- What an operator looks for when money does not arrive. The index holds only these.
create index refunds_pending on refunds (merchant_id, environment, refund_id) where status = 'pending';
-- What waits for a settlement, by currency, oldest first.
create index refunds_unsettled on refunds (merchant_id, environment, currency, completed_at)
where status = 'succeeded' and settlement_id is null;

-- What a refund may become. Why money went back is part of the audit trail: a reason is written once, with its refund.
create function check_refund_change() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if old.status <> new.status and old.status <> 'pending' then
    raise exception 'a refund cannot go from % to %', old.status, new.status using errcode = 'GB006';
  end if;
  if (old.refund_id, old.payment_id, old.amount_minor, old.currency, old.reason, old.created_at)
    is distinct from (new.refund_id, new.payment_id, new.amount_minor, new.currency, new.reason, new.created_at) then
    raise exception 'what a refund was created with cannot change' using errcode = 'GB006';
  end if;
  return new;
end
$$;
create trigger refunds_change before update on refunds
for each row execute function check_refund_change();

-- What has been refunded of a payment, and is being refunded: always the sums of its refunds, because only the trigger on refunds
-- writes them. Summing a payment's refunds for each new one made the thousandth a thousand times as expensive as the first.
create table refund_totals (
  merchant_id uuid not null,
  environment environment not null,
  payment_id uuid not null,
  refunded_minor bigint not null check (refunded_minor >= 0),
  pending_minor bigint not null check (pending_minor >= 0),
  primary key (merchant_id, environment, payment_id)
) with (fillfactor = 70);
create trigger refund_totals_not_truncated before truncate on refund_totals
for each statement execute function refuse_change();

-- A payment's totals are the sums of its refunds, so no two of them can spend the same money. The payment is written first; what is checked
-- here, once per statement and payment, is that its refunds agree with it: it is paid, in their currency, and in no dispute when they begin.
create function check_refund_totals() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
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
  select c.payment_id,
    case
      when p.paid_at is null then 'is not paid'
      when p.currency <> c.currency then 'is in another currency'
      when tg_op = 'INSERT' and p.dispute_status in ('needs_response', 'under_review') then 'is in a dispute'
      when p.refunded_minor is distinct from t.refunded_minor or p.refund_pending_minor is distinct from t.pending_minor
        then 'has totals that are not the sums of its refunds'
    end as reason
  into wrong
  from (select distinct merchant_id, environment, payment_id, currency from changed) c
  cross join lateral (
    select p.paid_at, p.currency, p.dispute_status, p.refunded_minor, p.refund_pending_minor
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
  where p.paid_at is null or p.currency <> c.currency
    or (tg_op = 'INSERT' and p.dispute_status in ('needs_response', 'under_review'))
    or p.refunded_minor is distinct from t.refunded_minor or p.refund_pending_minor is distinct from t.pending_minor
  limit 1;
  if found then
    raise exception 'payment % has a refund and %', wrong.payment_id, wrong.reason using errcode = 'GB008';
  end if;
  return null;
end
$$;
create trigger refunds_total_of_new after insert on refunds
referencing new table as changed
for each statement execute function check_refund_totals();
create trigger refunds_total_of_changed after update on refunds
referencing old table as before new table as changed
for each statement execute function check_refund_totals();

-- Money stands where the refund says: its journal is there, since journals are written first, and one that failed was given back. The journal
-- has the refund's own identity, unless that is an approval's, which is older than the journal: then the payment has a journal for each of
-- its refunds. Once a statement; scans of whole tables are off, so that journals are found by key, as in the ledger.
create function check_refunds_posted() returns trigger language plpgsql
set search_path = public, pg_temp set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  wrong uuid;
begin
  if tg_op = 'INSERT' then
    select c.refund_id into wrong
    from changed c
    where (
        select j.seq
        from journals j
        where j.merchant_id = c.merchant_id and j.environment = c.environment and j.journal_id = c.refund_id
          and j.group_id = c.payment_id and j.kind = 'refund'
      ) is null and (
        select count(*)
        from journals j
        where j.merchant_id = c.merchant_id and j.environment = c.environment and j.group_id = c.payment_id
          and j.kind = 'refund'
      ) <> (
        select count(*)
        from refunds r
        where r.merchant_id = c.merchant_id and r.environment = c.environment and r.payment_id = c.payment_id
      )
    limit 1;
    if found then
      raise exception 'refund % has no journal', wrong using errcode = 'GB007';
    end if;
  end if;
  select c.refund_id into wrong
  from changed c
  where c.status = 'failed' and (
      select count(*)
      from journals j
      where j.merchant_id = c.merchant_id and j.environment = c.environment and j.group_id = c.payment_id
        and j.kind = 'refund_returned'
    ) <> (
      select count(*)
      from refunds r
      where r.merchant_id = c.merchant_id and r.environment = c.environment and r.payment_id = c.payment_id
        and r.status = 'failed'
    )
  limit 1;
  if found then
    raise exception 'refund % failed and was not given back', wrong using errcode = 'GB007';
  end if;
  return null;
end
$$;
create trigger refunds_with_journals after insert on refunds
referencing new table as changed
for each statement execute function check_refunds_posted();
create trigger refunds_with_returns after update on refunds
referencing new table as changed
for each statement execute function check_refunds_posted();

grant select, insert on refunds to gerbang_app;
grant update (status, completed_at, settlement_id) on refunds to gerbang_app;
grant select on refund_totals to gerbang_app;

-- It acts with its owner's rights: nobody else may attach it to tables of their own.
revoke execute on function check_refund_totals() from public;
