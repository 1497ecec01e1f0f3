-- Webhooks that can be trusted: rotation with an overlap, more tries by hand, history that is forgotten in time; and tools
-- for merchants' developers: misbehaviour on purpose, and what was wrong with a refused signature.

-- After a rotation the secret before it signs as well, until its time is over.
alter table webhook_endpoints
  add column rotated_at timestamptz,
  add column previous_sealed bytea check (length(previous_sealed) between 30 and 400),
  add column previous_until timestamptz, -- real time
  add column previous_needed_at timestamptz, -- when a delivery that carried its signature was last accepted
  add constraint webhook_endpoints_previous check ((previous_sealed is null) = (previous_until is null));

-- A try by hand: what the delivery was before it, and goes back to when the try fails. Undelivered is undelivered again.
alter table deliveries
  add column resend_of delivery_state check (resend_of <> 'pending'),
  add column by_hand smallint not null default 0 check (by_hand >= 0), -- tries that somebody asked for: no rungs of the ladder
  add column host text generated always as (lower(substring(url from '^https://([^/?#]+)'))) stored;
-- Where an attempt went: a delivery may be asked for again at another address.
alter table delivery_attempts add column url text check (length(url) <= 2048);
-- What is due, book by book. First attempts and later ones apart: a backlog of the one never hides the other.
drop index deliveries_due;
create index deliveries_first on deliveries (merchant_id, environment, next_attempt_at) where state = 'pending' and attempts = 0;
create index deliveries_again on deliveries (merchant_id, environment, next_attempt_at) where state = 'pending' and attempts > 0;
-- What a merchant looks for after an outage.
create index deliveries_undelivered on deliveries (merchant_id, environment, event_id) where state = 'undelivered';

-- Up to which event a book's history is forgotten: what is older cannot be proved any more, and is not asked for.
create table event_horizons (
  merchant_id uuid not null,
  environment environment not null,
  forgotten_before timestamptz not null,
  primary key (merchant_id, environment),
  foreign key (merchant_id, environment) references books
);
grant select, insert, update on event_horizons to gerbang_app;
grant delete on events, deliveries, delivery_attempts to gerbang_app;

-- How the deliveries of a sandbox misbehave on purpose.
create table misbehaviours (
  merchant_id uuid not null,
  environment environment not null check (environment = 'sandbox'),
  mode text not null check (mode ~ '^[a-z_]{1,40}$'),
  remaining integer check (remaining between 0 and 10000), -- deliveries left; null: until it is switched off
  primary key (merchant_id, environment),
  foreign key (merchant_id, environment) references books
);
grant select, insert, update, delete on misbehaviours to gerbang_app;

-- What was wrong with a sandbox request whose signature was refused. The request itself is not kept.
create table refused_requests (
  merchant_id uuid not null,
  request_id uuid not null,
  diagnosis text not null check (diagnosis ~ '^[a-z0-9_]{1,40}$'),
  refused_at timestamptz not null,
  primary key (merchant_id, request_id)
);
grant select, insert, delete on refused_requests to gerbang_app;

-- Credentials that may do everything may read events and ask for them again.
update credentials
set scopes = scopes || '{events:read,events:write}'
where scopes @> '{payments:read,payments:write,refunds:read,refunds:write,balances:read,settlements:read,disputes:read,sandbox:write}'
  and not scopes @> '{events:read}';
