-- Settlements: batches of what is due to a merchant, formed by schedule and paid out by the bank.

create type settlement_status as enum ('processing', 'paid', 'failed');

-- When a book's next batch is formed, in the book's time; null until its first run, which is due at once.
create table settlement_clocks (
  merchant_id uuid not null,
  environment environment not null,
  next_run_at timestamptz,
  primary key (merchant_id, environment),
  foreign key (merchant_id, environment) references books
);
-- Which runs are due, of all books together.
create index settlement_clocks_due on settlement_clocks (coalesce(next_run_at, '-infinity'));

-- A book is created together with its settlement clock.
create function begin_settlements() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into settlement_clocks (merchant_id, environment) values (new.merchant_id, new.environment);
  return null;
end
$$;
create trigger books_have_settlement_clocks after insert on books
for each row execute function begin_settlements();

-- One batch: what is paid out to a merchant in one currency, and when.
create table settlements (
  merchant_id uuid not null,
  environment environment not null,
  settlement_id uuid not null,
  status settlement_status not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  period_start timestamptz not null,
  period_end timestamptz not null constraint settlements_period check (period_end >= period_start),
  gross_minor bigint not null check (gross_minor between 0 and 9007199254740991), -- what JSON carries exactly; the others are no more
  fee_minor bigint not null check (fee_minor >= 0),
  refund_minor bigint not null check (refund_minor >= 0),
  net_minor bigint not null check (net_minor > 0),
  payment_count integer not null check (payment_count >= 0),
  created_at timestamptz not null,
  pay_due_at timestamptz not null,
  payout_date date not null, -- the merchant's local day of the payout: on which it is due, and then on which it was made
  paid_at timestamptz,
  bank_reference text check (length(bank_reference) <= 64),
  returned_at timestamptz, -- when it was recorded that the bank returned the payout
  primary key (merchant_id, environment, settlement_id),
  foreign key (merchant_id, environment) references books,
  constraint settlements_net check (net_minor = gross_minor - fee_minor - refund_minor),
  constraint settlements_paid_at_with_status check ((paid_at is not null) = (status = 'paid')),
  constraint settlements_bank_reference_with_status check ((bank_reference is not null) = (status = 'paid')),
  constraint settlements_returned_at_with_status check ((returned_at is not null) = (status = 'failed'))
);
create index settlements_due on settlements (merchant_id, environment, pay_due_at) where status = 'processing';
-- Payouts of all merchants by the day on which they are due or were made: what operators look at each morning.
create index settlements_payout on settlements (environment, payout_date, settlement_id) include (status, currency, net_minor);
-- A payout is found by the reference on the bank's account.
create index settlements_bank_reference on settlements (merchant_id, environment, bank_reference) where bank_reference is not null;
-- What waits for a person, for the operator's queue. The index holds only these.
create index settlements_returned on settlements (merchant_id, environment, returned_at) where status = 'failed';

-- A settlement that has ended stays as it is: when it was paid, and by which transfer, is what the bank is asked about.
create function check_settlement_change() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if old.status <> 'processing' and new is distinct from old then
    raise exception 'a settlement that is % stays as it is', old.status using errcode = 'GB006';
  end if;
  return new;
end
$$;
create trigger settlements_change before update on settlements
for each row execute function check_settlement_change();

-- What a batch is made of: payments add their amount and fee, receipts that were credited add their amount, refunds and lost disputes
-- take theirs away.
create table settlement_items (
  merchant_id uuid not null,
  environment environment not null,
  settlement_id uuid not null,
  kind text not null check (kind in ('payment', 'receipt', 'refund', 'dispute')),
  item_id uuid not null,
  payment_id uuid not null,
  amount_minor bigint not null check (amount_minor > 0),
  fee_minor bigint not null constraint settlement_items_fee_of_payment check (fee_minor >= 0 and (kind = 'payment' or fee_minor = 0)),
  occurred_at timestamptz not null,
  released boolean not null default false, -- set when the bank returned the batch: the item is free for another one
  primary key (merchant_id, environment, settlement_id, kind, item_id),
  foreign key (merchant_id, environment, settlement_id) references settlements
);
-- Every payment, receipt, refund and lost dispute is in at most one batch that counts.
create unique index settlement_items_once on settlement_items (merchant_id, environment, item_id, kind) where not released;
create index settlement_items_released on settlement_items (merchant_id, environment, payment_id) where released;

-- An item is released with its batch, which the bank returned, and never again held: or a payout that was made could be made once more.
create function check_items_released() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if exists (
    select from changed c
    left join settlements s using (merchant_id, environment, settlement_id)
    where not c.released or s.status is distinct from 'failed'
  ) then
    raise exception 'items are released only of a batch that the bank returned' using errcode = 'GB006';
  end if;
  return null;
end
$$;
create trigger settlement_items_released_once after update on settlement_items
referencing new table as changed
for each statement execute function check_items_released();

-- A batch is the sum of its items, whenever items come: an item that is put into a batch later would count as settled, and never be paid out.
create function check_settlement_sums() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  wrong uuid := (
    select a.settlement_id
    from (select distinct merchant_id, environment, settlement_id from added) a
    join settlements s using (merchant_id, environment, settlement_id)
    -- One batch at a time, by its key: as a join it could read all items that there are.
    cross join lateral (
      select coalesce(sum(amount_minor) filter (where kind in ('payment', 'receipt')), 0) as gross, sum(fee_minor) as fee,
        coalesce(sum(amount_minor) filter (where kind in ('refund', 'dispute')), 0) as refund, count(*) filter (where kind = 'payment') as payments
      from settlement_items i
      where i.merchant_id = a.merchant_id and i.environment = a.environment and i.settlement_id = a.settlement_id
    ) items
    where (gross, fee, refund, payments) <> (s.gross_minor, s.fee_minor, s.refund_minor, s.payment_count)
    limit 1
  );
begin
  if wrong is not null then
    raise exception 'settlement % is not the sum of its items', wrong using errcode = 'GB010';
  end if;
  return null;
end
$$;
create trigger settlement_items_sum after insert on settlement_items
referencing new table as added
for each statement execute function check_settlement_sums();

-- At commit a batch has items.
create function check_settlement_items() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if not exists (
    select from settlement_items i
    where i.merchant_id = new.merchant_id and i.environment = new.environment and i.settlement_id = new.settlement_id
  ) then
    raise exception 'settlement % has no items', new.settlement_id using errcode = 'GB010';
  end if;
  return null;
end
$$;
create constraint trigger settlements_with_items after insert on settlements deferrable initially deferred
for each row execute function check_settlement_items();

-- A batch stands as the ledger says: at commit there is the journal that formed it, and the one by which it was paid or returned.
create function check_settlement_posted() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  ending text[] := case new.status when 'processing' then '{}' when 'paid' then '{settlement_paid}' else '{settlement_returned}' end;
begin
  if (
    select array_agg(j.kind order by j.seq)
    from journals j
    where j.merchant_id = new.merchant_id and j.environment = new.environment and j.group_id = new.settlement_id
  ) is distinct from array['settlement_formed'] || ending then
    raise exception 'settlement % is % without its journals', new.settlement_id, new.status using errcode = 'GB007';
  end if;
  return null;
end
$$;
create constraint trigger settlements_with_journals after insert or update of status on settlements deferrable initially deferred
for each row execute function check_settlement_posted();

grant select, insert on settlements, settlement_items to gerbang_app;
grant update (status, paid_at, payout_date, bank_reference, returned_at) on settlements to gerbang_app;
grant update (released) on settlement_items to gerbang_app;
grant select, update (next_run_at) on settlement_clocks to gerbang_app;

-- It acts with its owner's rights: nobody else may attach it to tables of their own.
revoke execute on function begin_settlements() from public;
