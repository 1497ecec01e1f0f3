-- Requests: what merchants' systems asked lately and what they were answered, for the people who develop them.

-- One request of a merchant's system and its answer: each one of a sandbox as far as there is room, of production refused ones alone. Bodies are
-- small, and without cards, secrets, signatures and what names or reaches a person. Rows are written in batches and never changed; a crash
-- of PostgreSQL may forget the last ones.
create table request_log (
  merchant_id uuid not null,
  environment environment not null,
  request_id uuid not null,
  at timestamptz not null, -- when it came, in real time
  took_us integer not null check (took_us >= 0),
  status smallint not null check (status between 100 and 599),
  proven boolean not null, -- by a signature that was right, and new; otherwise anybody who knows the client_id may have sent it
  replayed boolean not null, -- answered with the stored answer of its idempotency key
  client_id text not null check (length(client_id) <= 80),
  method text not null check (length(method) <= 20),
  path text not null check (length(path) <= 512),
  query text check (length(query) <= 1024),
  code text check (length(code) <= 40), -- of an error
  idempotency_key text check (length(idempotency_key) between 1 and 255),
  request_bytes integer not null check (request_bytes >= 0),
  request_digest bytea check (length(request_digest) = 32), -- tells whether two bodies are the same, byte by byte
  request_body text check (octet_length(request_body) <= 16384),
  request_omitted text check (request_omitted in ('too_large', 'not_json', 'not_an_object', 'duplicate_key', 'too_deep', 'unproven')),
  response_bytes integer not null check (response_bytes >= 0),
  response_body text check (octet_length(response_body) <= 16384),
  response_omitted text check (response_omitted in ('too_large', 'not_json')),
  primary key (merchant_id, environment, request_id),
  constraint request_log_request check (request_body is null or request_omitted is null),
  constraint request_log_response check (response_body is null or response_omitted is null)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 10000, autovacuum_analyze_scale_factor = 0.5);
alter table request_log
  alter column request_digest set statistics 0,
  alter column request_body set statistics 0,
  alter column response_body set statistics 0;
create index request_log_refused on request_log (merchant_id, environment, request_id) where status >= 400;
create index request_log_by_key on request_log (merchant_id, environment, idempotency_key, request_id)
where idempotency_key is not null and proven;
-- For deleting old ones only.
create index request_log_by_age on request_log (at);

-- How many requests of an hour were not logged: too many came at once, or, without proof, whoever knows a client_id sent them.
create table request_log_gaps (
  merchant_id uuid not null,
  environment environment not null,
  hour timestamptz not null,
  dropped bigint not null check (dropped >= 0),
  unproven bigint not null check (unproven >= 0),
  primary key (merchant_id, environment, hour)
);
create index request_log_gaps_by_age on request_log_gaps (hour);

grant select, insert, delete on request_log to gerbang_app;
grant select, insert, update, delete on request_log_gaps to gerbang_app;
