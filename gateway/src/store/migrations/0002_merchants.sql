-- Merchants, their credentials, webhook endpoints and books. merchant_id leads every key, so that all of a merchant's rows can
-- live on one shard.

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

-- Keys of merchants' systems. The secret is encrypted, and can be decrypted only as part of its own row.
create table credentials (
  merchant_id uuid not null references merchants,
  client_id text not null check (client_id ~ '^ak_(test|live)_[0-9a-z]{20,60}$'),
  environment environment not null,
  secret_sealed bytea not null check (length(secret_sealed) between 30 and 400),
  scopes text[] not null check (cardinality(scopes) between 1 and 32),
  signature text not null default 'any' check (signature in ('any', 'rfc9421')), -- which signatures prove its requests
  name text check (length(name) between 1 and 60), -- as people call it; null: nobody named it
  created_at timestamptz not null,
  revoked_at timestamptz,
  expires_at timestamptz, -- real time; it is good before that
  -- From where it may be used, networks or single addresses. None: from anywhere.
  allowed_addresses cidr[] not null default '{}' check (cardinality(allowed_addresses) <= 20),
  replaced_by text check (length(replaced_by) <= 68), -- client_id of the one that it was rolled to
  primary key (merchant_id, client_id),
  constraint credentials_environment_of_client_id check ((environment = 'production') = (client_id like 'ak_live_%'))
);
create index credentials_by_client on credentials (client_id);
create index credentials_newest on credentials (merchant_id, environment, created_at, client_id);

-- A credential that was revoked stays revoked, and since when: whoever held its secret may hold it still.
create function refuse_revival() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  raise exception 'a revoked credential stays revoked' using errcode = 'GB005';
end
$$;
create trigger credentials_stay_revoked before update on credentials
for each row when (old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at)
execute function refuse_revival();

-- When each credential was last used, and from where: written seconds later, many at once, so it may miss what came just before a crash.
create table credential_uses (
  merchant_id uuid not null,
  client_id text not null,
  used_at timestamptz not null,
  address text not null check (length(address) <= 60),
  primary key (merchant_id, client_id),
  foreign key (merchant_id, client_id) references credentials
) with (fillfactor = 50);

-- A merchant's branding and customs: the colour and the logo of its payer pages, and the language and time zone that hold where a person
-- has chosen none. No row: nothing was chosen yet.
create table merchant_profiles (
  merchant_id uuid primary key references merchants,
  language text check (language in ('id', 'en')), -- null: as the browser asks
  time_zone text check (length(time_zone) between 1 and 64), -- IANA's name; null: as the browser has it
  colour text check (colour ~ '^#[0-9a-f]{6}$'),
  logo bytea check (octet_length(logo) between 1 and 131072), -- as it is served: PNG or JPEG, judged by its content
  logo_type text check (logo_type in ('image/png', 'image/jpeg')),
  logo_width smallint check (logo_width between 1 and 2048), -- pixels
  logo_height smallint check (logo_height between 1 and 2048),
  logo_digest bytea check (length(logo_digest) = 32), -- SHA-256, part of the logo's address
  updated_at timestamptz not null,
  constraint merchant_profiles_logo
  check (num_nulls(logo, logo_type, logo_width, logo_height, logo_digest) in (0, 5))
);

-- The secret that signs a book's events, made with the book, and the address they go to once one is registered. After a rotation
-- the secret before it signs as well, until its time is over.
create table webhook_endpoints (
  merchant_id uuid not null references merchants,
  environment environment not null,
  url text check (url like 'https://%' and length(url) <= 2048),
  secret_sealed bytea not null check (length(secret_sealed) between 30 and 400),
  updated_at timestamptz not null,
  rotated_at timestamptz,
  previous_sealed bytea check (length(previous_sealed) between 30 and 400),
  previous_until timestamptz, -- real time
  -- What is known of the receiver. An accepted delivery that carried both signatures does not tell which one was verified. One that
  -- was refused with the new signature alone, and then accepted with both, shows that the previous one is still needed.
  previous_needed_at timestamptz, -- when that was last shown
  previous_carried_at timestamptz, -- when a delivery with both signatures was last accepted
  previous_not_needed_at timestamptz, -- when one with the new signature alone was last accepted
  probe_at timestamptz, -- real time from which a delivery may be sent with the new signature alone
  primary key (merchant_id, environment),
  constraint webhook_endpoints_previous check ((previous_sealed is null) = (previous_until is null))
);

-- A book: one merchant in one environment. Only a sandbox book has a clock of its own, and it only goes forward.
create table books (
  merchant_id uuid not null references merchants,
  environment environment not null,
  clock_offset_seconds bigint not null default 0 check (clock_offset_seconds between 0 and 3153600000),
  -- Where a sandbox's clock is going: it stops on the way at every moment at which something falls due. Null while it stands.
  clock_target_seconds bigint,
  -- When it last moved, in real time: if a clock stands still on its way, the process that moved it has ended.
  clock_moved_at timestamptz,
  primary key (merchant_id, environment),
  constraint books_clock_sandbox_only check (environment = 'sandbox' or clock_offset_seconds = 0),
  constraint books_clock_target check (clock_target_seconds > clock_offset_seconds and clock_target_seconds <= 3153600000)
);
create index books_moving on books (clock_moved_at) where clock_target_seconds is not null;
-- Those whose clock is ahead: what is due there is not due by the real clock.
create index books_ahead on books (merchant_id, environment) where clock_offset_seconds > 0;

-- All functions of triggers name the schemas in which they look for tables, temporary ones last: a session reads its temporary tables before
-- ours when a statement names a table without its schema. Functions that run for each row of a payment or receipt do without, because
-- setting the search path costs time at each call: they name the schema with each table.
create function refuse_clock_backwards() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  raise exception 'a book''s clock only goes forward' using errcode = 'check_violation';
end
$$;
create trigger books_clock_forward before update on books
for each row when (new.clock_offset_seconds < old.clock_offset_seconds)
execute function refuse_clock_backwards();

grant select, insert on credentials to gerbang_app;
grant update (secret_sealed, scopes, signature, name, revoked_at, expires_at, allowed_addresses, replaced_by) on credentials to gerbang_app;
grant select, insert, update on merchants, credential_uses, merchant_profiles, webhook_endpoints, books to gerbang_app;
