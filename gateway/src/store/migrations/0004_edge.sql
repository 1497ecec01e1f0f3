-- What the edge of the API keeps: idempotency keys, signatures already used, requests counted, and why requests were refused.

-- One business intent. The record, its effect and the answer are committed together; no answer means still running.
-- Vacuum and statistics run by the number of changed rows, not by a fifth of the table: that would be one long run over millions of
-- rows.
create table idempotency_keys (
  merchant_id uuid not null,
  environment environment not null,
  idempotency_key text not null check (length(idempotency_key) between 8 and 255),
  first_seen_at timestamptz not null,
  body_digest bytea not null check (length(body_digest) = 32),
  endpoint text not null check (length(endpoint) <= 200),
  status smallint check (status between 200 and 499),
  -- Only the service writes it. Its bytes are known, where its characters would have to be counted.
  response text check (octet_length(response) <= 1048576),
  primary key (merchant_id, environment, idempotency_key),
  foreign key (merchant_id, environment) references books,
  constraint idempotency_keys_whole_answer check ((status is null) = (response is null))
) with (
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 50000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_insert_threshold = 200000, autovacuum_analyze_scale_factor = 0.5
);
-- No query searches by these columns, and statistics of them cost time.
alter table idempotency_keys
  alter column body_digest set statistics 0,
  alter column endpoint set statistics 0,
  alter column status set statistics 0,
  alter column response set statistics 0;
-- For deleting old ones only. Led by merchant_id it would look to the planner, on a table without statistics, as good
-- for finding a key as the primary key, and be chosen.
create index idempotency_keys_by_age on idempotency_keys (first_seen_at);

-- Signatures that were used, until their timestamp leaves the window. 128 bits of a digest are enough to tell them apart.
-- All rows are replaced within minutes: vacuum runs after a fixed number of rows, whatever the size of the table.
create table seen_signatures (
  merchant_id uuid not null,
  valid_until bigint not null, -- Unix seconds
  digest uuid not null,
  primary key (merchant_id, valid_until, digest)
) with (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 500000, autovacuum_analyze_scale_factor = 0.5
);

-- Requests of a client in a minute.
-- Every batch rewrites these few rows: dead versions are removed after a thousand changes, and statistics would say nothing.
create table rate_windows (
  merchant_id uuid not null,
  client_id text not null,
  window_start bigint not null, -- Unix seconds
  requests bigint not null check (requests >= 0),
  primary key (merchant_id, client_id, window_start)
) with (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 100000
);

-- Why the signature of a sandbox request was refused. The request itself is not kept.
create table refused_requests (
  merchant_id uuid not null,
  request_id uuid not null,
  diagnosis text not null check (diagnosis ~ '^[a-z0-9_]{1,40}$'),
  refused_at timestamptz not null,
  primary key (merchant_id, request_id)
);

grant select, insert, update, delete on idempotency_keys, seen_signatures, rate_windows to gerbang_app;
grant select, insert, delete on refused_requests to gerbang_app;
