-- Idempotency keys: one business intent happens once, and who asked for it is on record.

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

-- What a key may become: it gets its answer once, and stands for another request only after its 72 hours.
create function check_key_change() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if new.first_seen_at >= old.first_seen_at + interval '72 hours'
    or (old.status is null and (old.first_seen_at, old.endpoint, old.body_digest) = (new.first_seen_at, new.endpoint, new.body_digest)) then
    return new;
  end if;
  raise exception 'an idempotency key keeps its request and answer for 72 hours' using errcode = 'GB006';
end
$$;
create trigger idempotency_keys_change before update on idempotency_keys
for each row execute function check_key_change();

-- Until then nobody forgets it, by the database's clock and that of its book: the same intent would happen again.
create function refuse_young_key() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if old.first_seen_at > statement_timestamp() - interval '72 hours' then
    if old.first_seen_at > statement_timestamp() - interval '72 hours' + make_interval(secs => (
      select b.clock_offset_seconds from books b where b.merchant_id = old.merchant_id and b.environment = old.environment
    )) then
      raise exception 'an idempotency key stays for 72 hours' using errcode = 'GB006';
    end if;
  end if;
  return old;
end
$$;
create trigger idempotency_keys_stay before delete on idempotency_keys
for each row execute function refuse_young_key();

grant select, insert, update, delete on idempotency_keys to gerbang_app;

-- What merchants' systems changed, by which credential and from where: a row for each signed request that had an effect, written with the effect.
-- It is kept as long as the ledger. Persons and operators have audits of their own.
create table client_audit (
  merchant_id uuid not null,
  environment environment not null,
  subject text not null check (octet_length(subject) <= 40), -- the object that was made or changed; '' for a change of no single one
  request_id uuid not null,
  at timestamptz not null, -- when the request came, in real time
  client_id text not null check (octet_length(client_id) <= 80),
  address text not null check (length(address) <= 60),
  action text not null check (octet_length(action) between 1 and 40),
  status text check (octet_length(status) <= 40), -- of the object, as the answer shows it
  -- The record of the key, of the same transaction, refers to the book: a second reference would cost each request a look at it.
  primary key (merchant_id, environment, subject, request_id)
);
create index client_audit_of_key on client_audit (merchant_id, client_id, request_id);
create trigger client_audit_append_only before update or delete or truncate on client_audit
for each statement execute function refuse_change();

grant select, insert on client_audit to gerbang_app;
