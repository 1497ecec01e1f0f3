-- Events and their deliveries, written in the transaction of what they tell.

-- What happened. The body is the exact bytes that every delivery of the event carries.
create table events (
  merchant_id uuid not null,
  environment environment not null,
  event_id uuid not null,
  type text not null check (type ~ '^[a-z]+\.[a-z_]+$' and length(type) <= 40),
  subject_id uuid,
  created_at timestamptz not null,
  body text not null check (length(body) <= 262144),
  primary key (merchant_id, environment, event_id)
);

create type delivery_state as enum ('pending', 'delivered', 'undelivered');

-- The way of an event to one address. next_attempt_at is in the book's time, the lease in real time.
create table deliveries (
  merchant_id uuid not null,
  environment environment not null,
  event_id uuid not null,
  url text not null check (url like 'https://%' and length(url) <= 2048),
  state delivery_state not null default 'pending',
  attempts smallint not null default 0 check (attempts between 0 and 1000),
  next_attempt_at timestamptz not null,
  lease_token uuid,
  leased_until timestamptz,
  primary key (merchant_id, environment, event_id),
  check ((lease_token is null) = (leased_until is null))
) with (fillfactor = 70);
-- What is due, book by book: a claim asks each book with its own clock.
create index deliveries_due on deliveries (merchant_id, environment, next_attempt_at) where state = 'pending';

-- Every try, as it went.
create table delivery_attempts (
  merchant_id uuid not null,
  environment environment not null,
  event_id uuid not null,
  attempt smallint not null check (attempt between 1 and 1000),
  started_at timestamptz not null,
  duration_ms integer not null check (duration_ms >= 0),
  succeeded boolean not null,
  status smallint check (status between 100 and 999),
  reason text check (length(reason) <= 500),
  address text check (length(address) <= 60),
  request_headers json not null,
  response_headers json,
  response_body bytea check (length(response_body) <= 16384),
  primary key (merchant_id, environment, event_id, attempt)
);

grant select, insert, update on deliveries to gerbang_app;
grant select, insert on events, delivery_attempts to gerbang_app;
