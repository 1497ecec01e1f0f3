-- The same rules, checked once a batch and book where they were checked once a journal, and without a call where nothing is wrong. What a
-- batch appends to a book is one range of its sequence, so counting the range says as much as looking each journal up.

-- By key, whatever the tables weigh when a plan is made: a session keeps it while they grow.
create or replace function check_new_journals() returns trigger language plpgsql security definer
set search_path = public, pg_temp set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  wrong record;
begin
  if tg_relid <> 'journals'::regclass then
    raise exception 'this is the trigger of journals' using errcode = 'GB005';
  end if;
  -- the sequence has no gap, and each journal seals the one before it
  select j.seq into wrong
  from (
    select i.seq, i.prev_hash,
      coalesce(lag(i.seq) over book, h.seq) as seq_before,
      coalesce(lag(i.hash) over book, h.hash) as hash_before
    from inserted i
    left join lateral (
      select h.seq, h.hash
      from book_heads h
      where h.merchant_id = i.merchant_id and h.environment = i.environment
      limit 1
    ) h on true
    window book as (partition by i.merchant_id, i.environment order by i.seq)
  ) j
  where j.seq is distinct from j.seq_before + 1 or j.prev_hash is distinct from j.hash_before
  limit 1;
  if found then
    raise exception 'journal % does not continue its book', wrong.seq using errcode = 'GB002';
  end if;
  -- every journal has at least two entries, and they sum to zero in each currency
  select coalesce(e.first_wrong, b.first_seq) as seq into wrong
  from (
    select merchant_id, environment, min(seq) as first_seq, max(seq) as last_seq, count(*) as journals
    from inserted
    group by merchant_id, environment
  ) b
  cross join lateral (
    select count(distinct s.seq) as journals, min(s.seq) filter (where s.lines < 2 or s.total <> 0) as first_wrong
    from (
      select e.seq, count(*) as lines, sum(e.amount_minor) as total
      from entries e
      where e.merchant_id = b.merchant_id and e.environment = b.environment and e.seq between b.first_seq and b.last_seq
      group by e.seq, e.currency
    ) s
  ) e
  where e.journals <> b.journals or e.first_wrong is not null
  limit 1;
  if found then
    raise exception 'journal % or one after it does not balance', wrong.seq using errcode = 'GB001';
  end if;
  update book_heads h
  set seq = n.seq, hash = n.hash
  from (
    select distinct on (merchant_id, environment) merchant_id, environment, seq, hash
    from inserted
    order by merchant_id, environment, seq desc
  ) n
  where h.merchant_id = n.merchant_id and h.environment = n.environment;
  return null;
end
$$;

-- A journal whose book has no head is refused above, and heads stay.
alter table journals drop constraint journals_merchant_id_environment_fkey;
create trigger book_heads_stay before delete or truncate on book_heads
for each statement execute function refuse_change();
revoke insert on book_heads from gerbang_app;

create or replace function apply_new_entries() returns trigger language plpgsql security definer
set search_path = public, pg_temp set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  wrong record;
begin
  if tg_relid <> 'entries'::regclass then
    raise exception 'this is the trigger of entries' using errcode = 'GB005';
  end if;
  -- entries without a journal, or added later to one that is complete
  select b.first_seq as seq into wrong
  from (
    select merchant_id, environment, min(seq) as first_seq, max(seq) as last_seq, count(distinct seq) as journals, count(*) as lines
    from inserted
    group by merchant_id, environment
  ) b
  where b.journals <> b.last_seq - b.first_seq + 1
    or b.journals <> (
      select count(*)
      from journals j
      where j.merchant_id = b.merchant_id and j.environment = b.environment and j.seq between b.first_seq and b.last_seq
    )
    or b.lines <> (
      select count(*)
      from entries e
      where e.merchant_id = b.merchant_id and e.environment = b.environment and e.seq between b.first_seq and b.last_seq
    )
  limit 1;
  if found then
    raise exception 'journal % or one after it is missing or complete already', wrong.seq using errcode = 'GB003';
  end if;
  -- the balances move, and the balance after the last entry of an account is the account's balance
  with moves as materialized (
    select merchant_id, environment, account, currency,
      coalesce(sum(amount_minor) filter (where amount_minor > 0), 0) as debit_minor,
      coalesce(-sum(amount_minor) filter (where amount_minor < 0), 0) as credit_minor,
      max(array[seq, line, balance_after_minor]) as last_entry
    from inserted
    group by merchant_id, environment, account, currency
  ), moved as (
    insert into balances as b (merchant_id, environment, account, currency, debit_minor, credit_minor)
    select merchant_id, environment, account, currency, debit_minor, credit_minor
    from moves
    order by merchant_id, environment, account, currency
    on conflict (merchant_id, environment, account, currency) do update
    set debit_minor = b.debit_minor + excluded.debit_minor,
      credit_minor = b.credit_minor + excluded.credit_minor
    returning b.merchant_id, b.environment, b.account, b.currency, b.debit_minor - b.credit_minor as balance_minor
  )
  select m.last_entry[1] as seq into wrong
  from moves m
  join moved b using (merchant_id, environment, account, currency)
  where m.last_entry[3] <> b.balance_minor
  limit 1;
  if found then
    raise exception 'journal % states a wrong balance', wrong.seq using errcode = 'GB004';
  end if;
  return null;
end
$$;
revoke execute on function check_new_journals(), apply_new_entries() from public;

-- What a payment may become, asked only where it may become something else. A long condition in a trigger is no bargain: it is read anew
-- by each statement, 120 microseconds for all of this one, where a call for one row takes 4.
drop trigger payments_change on payments;
drop function check_payment_change();
create function refuse_payment_change() returns trigger language plpgsql as $$
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
