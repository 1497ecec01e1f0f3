-- Numbers over time, counted from committed events, and how far they are counted.

-- The transaction that wrote an event, by which the feed is read in the order of commits: what lies before the oldest transaction that
-- still runs is all there, however late any of it was committed. Null for events from before the feed.
alter table events add column xact xid8;
alter table events alter column xact set default pg_current_xact_id();
alter table events alter column xact set statistics 0;
create index events_feed on events (xact) where xact is not null;

-- Payments that came to their end in one hour, by what they ended as. Derived from events and payments, and made anew from the
-- payments alone when somebody asks for it. The hour is of the book's time.
create table payment_hours (
  merchant_id uuid not null,
  environment environment not null,
  hour timestamptz not null check (date_trunc('hour', hour, 'UTC') = hour),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  method payment_method not null,
  acquirer text not null check (length(acquirer) <= 30), -- empty where none was chosen
  outcome text not null check (outcome in ('succeeded', 'rejected', 'failed', 'expired', 'canceled')),
  payments bigint not null check (payments > 0),
  -- Sums over payments have no limit that one merchant could not reach on purpose, and one book's must not stop the others'.
  amount_minor numeric(60, 0) not null check (amount_minor >= payments),
  fee_minor numeric(60, 0) not null check (fee_minor between 0 and amount_minor),
  primary key (merchant_id, environment, hour, currency, method, acquirer, outcome)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);

-- How far a roll-up has counted the feed.
create table roll_ups (
  name text primary key check (name = 'payment_hours'),
  counted_to xid8 not null, -- all events of transactions before this one are counted, and no others
  -- The database whose transactions these are. Restored elsewhere, a roll-up is made anew: transactions have other numbers there.
  origin text not null check (length(origin) <= 64),
  counted_at timestamptz not null -- by the database's clock
) with (fillfactor = 50);

grant select, insert, update, delete on payment_hours, roll_ups to gerbang_app;
