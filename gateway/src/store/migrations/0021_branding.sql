-- How a merchant shows itself to payers.

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
grant select, insert, update on merchant_profiles to gerbang_app;
