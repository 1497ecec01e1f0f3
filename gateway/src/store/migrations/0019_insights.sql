-- Numbers over time, counted from committed events, and how far they are counted.

-- Payments that came to their end in one quarter of an hour, by what they ended as: midnight of every zone is at the start of one. Derived from events
-- and payments, and made anew from the payments alone when somebody asks for it. The quarter is of the book's time.
create table payment_quarters (
  merchant_id uuid not null,
  environment environment not null,
  quarter timestamptz not null check (extract(epoch from quarter) % 900 = 0), -- when it begins
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  method payment_method not null,
  acquirer text not null check (length(acquirer) <= 30), -- empty where none was chosen
  outcome text not null check (outcome in ('succeeded', 'rejected', 'failed', 'expired', 'canceled')),
  payments bigint not null check (payments > 0),
  -- Sums over payments have no limit that one merchant could not reach on purpose, and one book's must not stop the others'.
  amount_minor numeric(60, 0) not null check (amount_minor >= payments),
  fee_minor numeric(60, 0) not null check (fee_minor between 0 and amount_minor),
  primary key (merchant_id, environment, quarter, currency, method, acquirer, outcome)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);

-- What became of payments, over all merchants, by the real time: counted by the same step as payment_quarters, and made anew with it. A row is added
-- up while its span runs. Spans of a minute are kept for hours, of a quarter of an hour for days, of an hour for weeks.
create table payment_totals (
  step_seconds integer not null check (step_seconds in (60, 900, 3600)),
  at timestamptz not null check (extract(epoch from at) % step_seconds = 0), -- when the span begins
  environment environment not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  method payment_method not null,
  acquirer text not null check (length(acquirer) <= 30), -- empty where none was chosen
  outcome text not null check (outcome in ('asked', 'succeeded', 'rejected', 'failed', 'expired', 'canceled')),
  payments bigint not null check (payments > 0),
  amount_minor numeric(60, 0) not null check (amount_minor >= payments),
  primary key (step_seconds, at, environment, currency, method, acquirer, outcome)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000);

-- How far a roll-up has counted the feed.
create table roll_ups (
  name text primary key check (name = 'payment_quarters'),
  counted_to xid8 not null, -- all events of transactions before this one are counted, and no others
  -- The database whose transactions these are. Restored elsewhere, a roll-up is made anew: transactions have other numbers there.
  origin text not null check (length(origin) <= 64),
  counted_at timestamptz not null -- by the database's clock
) with (fillfactor = 50);

grant select, insert, update, delete on payment_quarters, payment_totals, roll_ups to gerbang_app;
