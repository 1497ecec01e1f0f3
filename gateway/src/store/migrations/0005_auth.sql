-- Replay protection and rate limits: signatures already used, and requests counted.

-- Signatures of writes that were used, until their timestamp leaves the window. 128 bits of a digest are identity enough. A slot holds those
-- that end in one minute, and is emptied as a whole when it is over.
create table used_nonces (
  slot smallint not null,
  merchant_id uuid not null,
  valid_until bigint not null, -- Unix seconds
  digest uuid not null,
  primary key (slot, merchant_id, valid_until, digest)
) partition by list (slot);

-- The same of reads. They change nothing, so a crash of PostgreSQL may forget them.
create table used_read_nonces (
  slot smallint not null,
  merchant_id uuid not null,
  valid_until bigint not null,
  digest uuid not null,
  primary key (slot, merchant_id, valid_until, digest)
) partition by list (slot);

do $$
begin
  for slot in 0..23 loop
    execute format('create table used_nonces_%s partition of used_nonces for values in (%s)', lpad(slot::text, 2, '0'), slot);
    execute format('create unlogged table used_read_nonces_%s partition of used_read_nonces for values in (%s)', lpad(slot::text, 2, '0'), slot);
    -- emptied as a whole within minutes: there is nothing to clean up
    execute format('alter table used_nonces_%s set (autovacuum_enabled = off)', lpad(slot::text, 2, '0'));
    execute format('alter table used_read_nonces_%s set (autovacuum_enabled = off)', lpad(slot::text, 2, '0'));
    execute format('grant select, truncate on used_nonces_%s, used_read_nonces_%s to gerbang_app', lpad(slot::text, 2, '0'), lpad(slot::text, 2, '0'));
  end loop;
end
$$;
grant select, insert on used_nonces, used_read_nonces to gerbang_app;

-- Requests of a client in a minute. A crash of PostgreSQL may forget them. One that is taken back counts less than none.
-- Every batch rewrites these few rows: dead versions are removed after a thousand changes, and statistics would say nothing.
create unlogged table rate_windows (
  merchant_id uuid not null,
  client_id text not null,
  window_start bigint not null, -- Unix seconds
  requests bigint not null,
  primary key (merchant_id, client_id, window_start)
) with (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 100000
);
grant select, insert, update, delete on rate_windows to gerbang_app;
