-- The ledger: append-only journals of signed entries, zero-sum, chained by hash. Debits are positive, credits negative.
-- The rules are held here as well as in the code: nobody, not even the owner, can write a journal that breaks them.

-- Append-only, for everyone: any trigger that calls this refuses the statement.
create function refuse_change() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'GB005';
end
$$;

-- Where the chain of a book's journals ends. Locked first by every process that posts; moved only by the trigger on journals.
-- Every batch rewrites these few rows: dead versions are removed after a thousand changes, and a page has room for new ones.
-- Statistics would say nothing about them.
create table book_heads (
  merchant_id uuid not null,
  environment environment not null,
  seq bigint not null default 0 check (seq >= 0),
  hash bytea not null default decode(repeat('00', 32), 'hex') check (length(hash) = 32),
  lockable boolean, -- `for update` needs the right to update one column: this one, which holds nothing
  primary key (merchant_id, environment),
  foreign key (merchant_id, environment) references books
) with (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 100000
);
-- Journals have no foreign key to heads: their trigger refuses a journal whose book has no head. So heads may not be deleted.
create trigger book_heads_stay before delete or truncate on book_heads
for each statement execute function refuse_change();

-- A book is created together with its head.
create function begin_book() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into book_heads (merchant_id, environment) values (new.merchant_id, new.environment);
  return null;
end
$$;
create trigger books_have_heads after insert on books
for each row execute function begin_book();

-- One movement of money. A payment and everything that reverses it share a group. The operation key makes it happen once.
-- Vacuum and statistics run by the number of new rows, not by a fifth of the table: that would be one long run over millions of rows.
create table journals (
  merchant_id uuid not null,
  environment environment not null,
  seq bigint not null check (seq > 0),
  journal_id uuid not null,
  group_id uuid not null,
  -- Letters and length are checked apart: a count in the regular expression took twenty times as long.
  kind text not null check (kind ~ '^[a-z_]+$' and octet_length(kind) <= 40),
  operation_key text not null check (length(operation_key) between 1 and 120),
  posted_at timestamptz not null,
  prev_hash bytea not null check (length(prev_hash) = 32),
  hash bytea not null check (length(hash) = 32),
  primary key (merchant_id, environment, seq)
) with (
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_insert_threshold = 200000, autovacuum_analyze_scale_factor = 0.5
);
-- No query searches by these columns, and statistics of them cost time.
alter table journals
  alter column prev_hash set statistics 0,
  alter column hash set statistics 0;
create unique index journals_operation_key on journals (merchant_id, environment, operation_key);
create index journals_group on journals (merchant_id, environment, group_id);
-- Pages name a journal by its identity.
create unique index journals_by_identity on journals (merchant_id, environment, journal_id);

-- The two or more sides of a journal, each with the balance of its account after it.
-- Vacuum and statistics run by the number of new rows, as on journals.
create table entries (
  merchant_id uuid not null,
  environment environment not null,
  seq bigint not null,
  line smallint not null check (line between 1 and 100),
  -- Letters and length are checked apart, as on journals.
  account text not null check (account ~ '^[a-z]+:[a-z_:]+$' and octet_length(account) <= 100),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  amount_minor bigint not null check (amount_minor <> 0),
  balance_after_minor bigint not null,
  primary key (merchant_id, environment, seq, line)
) with (
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_insert_threshold = 200000, autovacuum_analyze_scale_factor = 0.5
);
-- No query searches by these columns, and statistics of them cost time.
alter table entries
  alter column amount_minor set statistics 0,
  alter column balance_after_minor set statistics 0;
create index entries_account on entries (merchant_id, environment, account, currency, seq);

-- Running totals of an account: always the sum of its entries, because only the trigger on entries writes them.
-- Every batch rewrites these few rows: dead versions are removed after a thousand changes, and statistics would say nothing.
create table balances (
  merchant_id uuid not null,
  environment environment not null,
  account text not null,
  currency text not null,
  debit_minor bigint not null check (debit_minor >= 0),
  credit_minor bigint not null check (credit_minor >= 0),
  primary key (merchant_id, environment, account, currency)
) with (
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 100000
);

-- Journals arrive with their entries in one statement. Here their sequence, chain and completeness are checked, once a batch and
-- book: what a batch appends to a book is one range of its sequence, so counting the range says as much as looking up each journal.
-- Scans of whole tables are off, so that rows are found by key: a session keeps its plan, also one made while the tables were small.
create function check_new_journals() returns trigger language plpgsql security definer
set search_path = public, pg_temp set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  wrong record;
begin
  if tg_relid <> 'journals'::regclass then
    raise exception 'this is the trigger of journals' using errcode = 'GB005';
  end if;
  -- the sequence has no gap, and each journal holds the hash of the one before it
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
create trigger journals_are_whole after insert on journals
referencing new table as inserted
for each statement execute function check_new_journals();

-- Entries come only with their journal, and the balances follow them. Scans of whole tables are off for the reason given above.
create function apply_new_entries() returns trigger language plpgsql security definer
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
create trigger entries_move_balances after insert on entries
referencing new table as inserted
for each statement execute function apply_new_entries();

-- What a merchant has available (a credit balance) goes below zero only when a dispute is opened; what is held, in a batch or unapplied
-- never does.
create function check_protected_accounts() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  wrong record;
begin
  select i.seq, i.account into wrong
  from inserted i
  join journals j using (merchant_id, environment, seq)
  where i.amount_minor > 0 and i.balance_after_minor > 0
    and (i.account in ('merchant:held', 'merchant:settling', 'platform:unapplied')
      or (i.account = 'merchant:available' and j.kind <> 'dispute_opened'))
  limit 1;
  if found then
    raise exception 'journal % would take % below zero', wrong.seq, wrong.account using errcode = 'GB009';
  end if;
  return null;
end
$$;
create trigger entries_protect_accounts after insert on entries
referencing new table as inserted
for each statement execute function check_protected_accounts();

create trigger journals_append_only before update or delete or truncate on journals
for each statement execute function refuse_change();
create trigger entries_append_only before update or delete or truncate on entries
for each statement execute function refuse_change();
create trigger balances_not_truncated before truncate on balances
for each statement execute function refuse_change();

grant select on book_heads to gerbang_app;
grant update (lockable) on book_heads to gerbang_app;
grant select, insert on journals, entries to gerbang_app;
grant select on balances to gerbang_app;

-- Functions that act with their owner's rights: nobody else may attach them to tables of their own.
revoke execute on function check_new_journals(), apply_new_entries(), begin_book() from public;
