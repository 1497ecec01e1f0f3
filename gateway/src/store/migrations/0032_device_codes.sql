-- Signing in from a command line (RFC 8628): a program shows a person a short code, and asks with a long one until they have answered.

create table device_codes (
  device_digest bytea primary key check (length(device_digest) = 32), -- of the long code, which the program alone has
  user_code text not null check (user_code ~ '^[BCDFGHJKLMNPQRSTVWXZ]{8}$'), -- the short one, as the person types it
  -- What asks: how it calls its key, for which environment, and from where.
  name text not null check (length(name) between 1 and 60),
  environment text not null check (environment in ('sandbox', 'production')),
  address text not null check (length(address) <= 60),
  address_group text not null check (length(address_group) <= 60), -- as limits count addresses
  user_agent text not null check (length(user_agent) <= 300),
  created_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > created_at),
  -- When the program last asked, and how long it has to wait in between.
  polled_at timestamptz,
  interval_seconds smallint not null check (interval_seconds between 1 and 60),
  -- The answer, once: by whom, for which merchant, and what the key may do. Without a merchant it is a refusal.
  answered_at timestamptz,
  person_id uuid references persons,
  merchant_id uuid references merchants,
  scopes text[] check (cardinality(scopes) between 1 and 20),
  used_at timestamptz, -- when the program got its key: once
  constraint device_codes_answer check (
    (answered_at is null) = (person_id is null)
    and (merchant_id is null) = (scopes is null)
    and (merchant_id is null or person_id is not null)
    and (used_at is null or merchant_id is not null)
  )
);
create unique index device_codes_user_code on device_codes (user_code);
create index device_codes_of_address on device_codes (address_group, expires_at);
create index device_codes_expiry on device_codes (expires_at);

grant select, insert, delete on device_codes to gerbang_app;
grant update (environment, polled_at, interval_seconds, answered_at, person_id, merchant_id, scopes, used_at)
on device_codes to gerbang_app;
