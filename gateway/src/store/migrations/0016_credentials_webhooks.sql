-- What people set of their systems' credentials, when each was last used, and how a book's attempts to deliver are listed.

alter table credentials
  add column name text check (length(name) between 1 and 60), -- as people call it; null: nobody named it
  add column expires_at timestamptz, -- real time; it is good before that
  -- From where it may be used, networks or single addresses. None: from anywhere.
  add column allowed_addresses cidr[] not null default '{}' check (cardinality(allowed_addresses) <= 20),
  add column replaced_by text check (length(replaced_by) <= 68); -- client_id of the one that it was rolled to
create index credentials_newest on credentials (merchant_id, environment, created_at, client_id);

-- When each credential was last used, and from where: written seconds later, many at once, so it may miss what came just before a crash.
create table credential_uses (
  merchant_id uuid not null,
  client_id text not null,
  used_at timestamptz not null,
  address text not null check (length(address) <= 60),
  primary key (merchant_id, client_id),
  foreign key (merchant_id, client_id) references credentials
) with (fillfactor = 50);

-- A book's attempts across all its events, newest first; and those that failed, of which there may be one among very many.
create index delivery_attempts_newest on delivery_attempts (merchant_id, environment, started_at);
create index delivery_attempts_failed on delivery_attempts (merchant_id, environment, started_at) where not succeeded;

grant select, insert, update on credential_uses to gerbang_app;
