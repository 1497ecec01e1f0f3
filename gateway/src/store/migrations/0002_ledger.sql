-- The ledger: append-only journals of signed entries, zero-sum, chained by hash. Debits are positive, credits negative.
-- The rules are held here as well as in the code: nobody, not even the owner, can write a journal that breaks them.

-- Where a book's journal stands. Locked first by whoever posts; moved only by the trigger on journals.
create table book_heads (
  merchant_id uuid not null,
  environment environment not null,
  seq bigint not null default 0 check (seq >= 0),
  hash bytea not null default decode(repeat('00', 32), 'hex') check (length(hash) = 32),
  lockable boolean, -- `for update` needs the right to update one column: this one, which means nothing
  primary key (merchant_id, environment),
  foreign key (merchant_id, environment) references books
);

-- One movement of money. A payment and everything that reverses it share a group. The operation key makes it happen once.
create table journals (
  merchant_id uuid not null,
  environment environment not null,
  seq bigint not null check (seq > 0),
  journal_id uuid not null,
  group_id uuid not null,
  kind text not null check (kind ~ '^[a-z_]{1,40}$'),
  operation_key text not null check (length(operation_key) between 1 and 120),
  posted_at timestamptz not null,
  prev_hash bytea not null check (length(prev_hash) = 32),
  hash bytea not null check (length(hash) = 32),
  primary key (merchant_id, environment, seq),
  foreign key (merchant_id, environment) references book_heads
);
create unique index journals_operation_key on journals (merchant_id, environment, operation_key);
create index journals_group on journals (merchant_id, environment, group_id);

-- The two or more sides of a journal, each with the balance of its account after it.
create table entries (
  merchant_id uuid not null,
  environment environment not null,
  seq bigint not null,
  line smallint not null check (line between 1 and 100),
  account text not null check (account ~ '^[a-z]+:[a-z_:]{1,60}$'),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  amount_minor bigint not null check (amount_minor <> 0),
  balance_after_minor bigint not null,
  primary key (merchant_id, environment, seq, line)
);
create index entries_account on entries (merchant_id, environment, account, currency, seq);

-- Running totals of an account: always the sum of its entries, because only the trigger on entries writes them.
create table balances (
  merchant_id uuid not null,
  environment environment not null,
  account text not null,
  currency text not null,
  debit_minor bigint not null check (debit_minor >= 0),
  credit_minor bigint not null check (credit_minor >= 0),
  primary key (merchant_id, environment, account, currency)
) with (fillfactor = 80);

-- Journals arrive with their entries in one statement. Here their sequence, chain and completeness are checked.
create function check_new_journals() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare
  wrong record;
begin
  if tg_relid <> 'journals'::regclass then
    raise exception 'this is the trigger of journals' using errcode = 'GB005';
  end if;
  -- every journal has at least two entries, and they sum to zero in each currency
  select j.seq, count(e.line) as lines, sum(e.amount_minor) as total, e.currency into wrong
  from inserted j
  left join entries e using (merchant_id, environment, seq)
  group by j.merchant_id, j.environment, j.seq, e.currency
  having coalesce(sum(e.amount_minor), 1) <> 0 or count(e.line) < 2
  limit 1;
  if found then
    raise exception 'journal % does not balance: % entries sum to % %', wrong.seq, wrong.lines, wrong.total, wrong.currency
      using errcode = 'GB001';
  end if;
  -- the sequence has no gap, and each journal seals the one before it
  select j.seq into wrong
  from (
    select i.merchant_id, i.environment, i.seq, i.prev_hash,
      coalesce(lag(i.seq) over book, h.seq) as seq_before,
      coalesce(lag(i.hash) over book, h.hash) as hash_before
    from inserted i
    join book_heads h using (merchant_id, environment)
    window book as (partition by i.merchant_id, i.environment order by i.seq)
  ) j
  where j.seq <> j.seq_before + 1 or j.prev_hash <> j.hash_before
  limit 1;
  if found then
    raise exception 'journal % does not continue its book', wrong.seq using errcode = 'GB002';
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
create trigger journals_are_whole after insert on journals
referencing new table as inserted
for each statement execute function check_new_journals();

-- Entries come only with their journal, and the balances follow them.
create function apply_new_entries() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
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
  left join journals j using (merchant_id, environment, seq)
  where j.seq is null
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
create trigger entries_move_balances after insert on entries
referencing new table as inserted
for each statement execute function apply_new_entries();

-- Append-only, for everyone.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'GB005';
end
$$;
create trigger journals_append_only before update or delete or truncate on journals
for each statement execute function refuse_change();
create trigger entries_append_only before update or delete or truncate on entries
for each statement execute function refuse_change();
create trigger balances_not_truncated before truncate on balances
for each statement execute function refuse_change();

grant select, insert on book_heads to gerbang_app;
grant update (lockable) on book_heads to gerbang_app;
grant select, insert on journals, entries to gerbang_app;
grant select on balances to gerbang_app;

-- A book is born with its head.
create function begin_book() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into book_heads (merchant_id, environment) values (new.merchant_id, new.environment);
  return null;
end
$$;
create trigger books_have_heads after insert on books
for each row execute function begin_book();

-- Functions that act with their owner's rights are nobody's to attach to tables of their own.
revoke execute on function check_new_journals(), apply_new_entries(), begin_book() from public;
