-- Merchants, their credentials, webhook addresses and books. merchant_id leads every key, so that all of a merchant can
-- live on one shard.

create type environment as enum ('sandbox', 'production');

-- The role the service runs as. It owns nothing, and what it may do is granted table by table.
do $$
begin
  if not exists (select from pg_roles where rolname = 'gerbang_app') then
    create role gerbang_app nologin;
  end if;
exception when duplicate_object or unique_violation then null; -- another database of this server was faster
end
$$;

-- One number that grows with every change of settings. The row lock makes commit order and epoch order the same, so a
-- process that has seen epoch n has seen every change up to n.
create table settings_epoch (
  only_row boolean primary key default true check (only_row),
  epoch bigint not null
);
insert into settings_epoch (epoch) values (0);

-- Who takes payments. Settings (currencies, methods, fees, limits) are one document, checked by the application's schema.
create table merchants (
  merchant_id uuid primary key,
  name text not null check (length(name) between 1 and 120),
  suspended boolean not null default false,
  rate_limit_per_minute integer not null default 100 check (rate_limit_per_minute between 1 and 100000000),
  settings jsonb not null check (jsonb_typeof(settings) = 'object'),
  epoch bigint not null,
  created_at timestamptz not null
);
create index merchants_by_epoch on merchants (epoch);

-- Keys of merchants' systems. The secret is sealed; only its owner's row opens it.
create table credentials (
  merchant_id uuid not null references merchants,
  client_id text not null check (client_id ~ '^ak_(test|live)_[0-9a-z]{20,60}$'),
  environment environment not null,
  secret_sealed bytea not null check (length(secret_sealed) between 30 and 400),
  scopes text[] not null check (cardinality(scopes) between 1 and 32),
  created_at timestamptz not null,
  revoked_at timestamptz,
  primary key (merchant_id, client_id),
  check ((environment = 'production') = (client_id like 'ak_live_%'))
);
create index credentials_by_client on credentials (client_id);

-- The signing secret of a book's events, there from its birth, and the address they go to once one is registered.
create table webhook_endpoints (
  merchant_id uuid not null references merchants,
  environment environment not null,
  url text check (url like 'https://%' and length(url) <= 2048),
  secret_sealed bytea not null check (length(secret_sealed) between 30 and 400),
  updated_at timestamptz not null,
  primary key (merchant_id, environment)
);

-- A book: one merchant in one environment. Only a sandbox book has a clock of its own, and it only goes forward.
create table books (
  merchant_id uuid not null references merchants,
  environment environment not null,
  clock_offset_seconds bigint not null default 0 check (clock_offset_seconds between 0 and 3153600000),
  primary key (merchant_id, environment),
  check (environment = 'sandbox' or clock_offset_seconds = 0)
);

create function refuse_clock_backwards() returns trigger language plpgsql as $$
begin
  raise exception 'a book''s clock only goes forward' using errcode = 'check_violation';
end
$$;
create trigger books_clock_forward before update on books
for each row when (new.clock_offset_seconds < old.clock_offset_seconds)
execute function refuse_clock_backwards();

grant select, update on settings_epoch to gerbang_app;
grant select, insert, update on merchants, credentials, webhook_endpoints, books to gerbang_app;
