-- What the edge remembers: idempotency keys, signatures already used, and requests counted.

-- One business intent. The record, its effect and the answer are committed together; no answer means still running.
create table idempotency_keys (
  merchant_id uuid not null,
  environment environment not null,
  idempotency_key text not null check (length(idempotency_key) between 8 and 255),
  first_seen_at timestamptz not null,
  body_digest bytea not null check (length(body_digest) = 32),
  endpoint text not null check (length(endpoint) <= 200),
  status smallint check (status between 200 and 499),
  response text check (length(response) <= 262144),
  primary key (merchant_id, environment, idempotency_key),
  foreign key (merchant_id, environment) references books,
  check ((status is null) = (response is null))
);
-- For forgetting old ones only. Led by merchant_id it would look to the planner, on a table without statistics, as good
-- for finding a key as the primary key, and be chosen.
create index idempotency_keys_by_age on idempotency_keys (first_seen_at);

-- Signatures that were used, until their timestamp leaves the window. 128 bits of a digest are identity enough.
create table seen_signatures (
  merchant_id uuid not null,
  valid_until bigint not null, -- Unix seconds
  digest uuid not null,
  primary key (merchant_id, valid_until, digest)
);

-- Requests of a client in a minute.
create table rate_windows (
  merchant_id uuid not null,
  client_id text not null,
  window_start bigint not null, -- Unix seconds
  requests bigint not null check (requests >= 0),
  primary key (merchant_id, client_id, window_start)
) with (fillfactor = 50);

grant select, insert, update, delete on idempotency_keys, seen_signatures, rate_windows to gerbang_app;
