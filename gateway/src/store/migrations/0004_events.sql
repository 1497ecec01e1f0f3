-- Events and their deliveries, written in the transaction of what they tell, and what is known of history that was deleted.

-- What happened. The body is the exact bytes that every delivery of the event carries.
-- Vacuum and statistics run by the number of new rows, not by a fifth of the table: that would be one long run over millions of rows.
create table events (
  merchant_id uuid not null,
  environment environment not null,
  event_id uuid not null,
  type text not null check (type ~ '^[a-z]+\.[a-z_]+$' and length(type) <= 40),
  subject_id uuid,
  created_at timestamptz not null,
  -- Only the service writes it. Its bytes are known, where its characters would have to be counted.
  body text not null check (octet_length(body) <= 1048576),
  -- The transaction that wrote it, by which the feed is read in the order of commits: what lies before the oldest transaction that still
  -- runs is all there, however late any of it was committed.
  xact xid8 default pg_current_xact_id(),
  primary key (merchant_id, environment, event_id)
) with (
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_insert_threshold = 200000, autovacuum_analyze_scale_factor = 0.5
);
-- Statistics of these columns cost time, and help no query.
alter table events
  alter column body set statistics 0,
  alter column xact set statistics 0;
create index events_feed on events (xact) where xact is not null;
-- Events about an object that did not happen in the millisecond in which it was made. Identities begin with their time, 13 characters of
-- it to the millisecond: an event of that moment is found by the range of identities that share them. So this index holds no
-- payment.created of a payment that was opened at once, and costs its creation nothing.
create index events_of_subject on events (merchant_id, environment, subject_id, event_id)
where left(event_id::text, 13) <> left(subject_id::text, 13);

create type delivery_state as enum ('pending', 'delivered', 'undelivered');

-- The way of an event to one address. next_attempt_at is in the book's time, the lease in real time.
-- This table is a queue: rows that have left it are vacuumed soon, because a claim has to walk past them.
create table deliveries (
  merchant_id uuid not null,
  environment environment not null,
  event_id uuid not null,
  url text not null check (url like 'https://%' and length(url) <= 2048),
  own_url boolean not null default false, -- the payment's callback_url, which stays; otherwise the registered address is followed
  state delivery_state not null default 'pending',
  attempts smallint not null default 0 check (attempts between 0 and 1000),
  by_hand smallint not null default 0 check (by_hand >= 0), -- attempts that somebody asked for: they are not part of the retry schedule
  next_attempt_at timestamptz not null,
  lease_token uuid,
  leased_until timestamptz,
  -- While somebody asked for an attempt: the state before it, to which the delivery returns when the attempt fails.
  resend_of delivery_state check (resend_of <> 'pending'),
  -- Taken from the address without a regular expression, which cost more.
  host text
  generated always as (lower(split_part(split_part(split_part(substr(url, 9), '/', 1), '?', 1), '#', 1))) stored,
  -- A digest of the host: a scan over hosts can begin anywhere among them, and nobody can choose a host that shares a queue with
  -- another's.
  queue bigint
  generated always as (('x' || left(md5(lower(
    split_part(split_part(split_part(substr(url, 9), '/', 1), '?', 1), '#', 1)
  )), 16))::bit(64)::bigint) stored,
  primary key (merchant_id, environment, event_id),
  -- A delivery that is set aside without an attempt has a time until which it is left alone, and no token.
  constraint deliveries_lease check (lease_token is null or leased_until is not null)
) with (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_insert_threshold = 200000, autovacuum_analyze_scale_factor = 0.2
);
-- No query searches by these columns, and statistics of them cost time. The others keep all theirs: with fewer, a claim was planned
-- that walks past a whole backlog.
alter table deliveries
  alter column url set statistics 0,
  alter column lease_token set statistics 0,
  alter column by_hand set statistics 0,
  alter column resend_of set statistics 0;
-- What is due, one queue for each book and host, so that a claim never walks past what is owed to a host that takes no more. First
-- attempts and later ones are apart: a backlog of one never hides the other.
create index deliveries_first on deliveries (merchant_id, environment, queue, next_attempt_at)
where state = 'pending' and attempts = 0;
create index deliveries_again on deliveries (merchant_id, environment, queue, next_attempt_at)
where state = 'pending' and attempts > 0;
-- What is most overdue in a book, whatever its host.
create index deliveries_due on deliveries (merchant_id, environment, next_attempt_at) where state = 'pending';
-- What a merchant looks for after an outage.
create index deliveries_undelivered on deliveries (merchant_id, environment, event_id) where state = 'undelivered';
-- What waits for a person, for the operator's queue. The index holds only these.
create index deliveries_given_up on deliveries (merchant_id, environment, next_attempt_at) where state = 'undelivered';

-- Every attempt to deliver, with what was sent and answered.
-- Vacuum and statistics run by the number of changed rows, as on events.
create table delivery_attempts (
  merchant_id uuid not null,
  environment environment not null,
  event_id uuid not null,
  attempt smallint not null check (attempt between 1 and 1000),
  url text check (length(url) <= 2048), -- where it went: a delivery may be asked for again at another address
  started_at timestamptz not null,
  duration_ms integer not null check (duration_ms >= 0),
  succeeded boolean not null,
  status smallint check (status between 100 and 999),
  reason text check (length(reason) <= 500),
  address text check (length(address) <= 60),
  request_headers json not null,
  request_body text check (length(request_body) <= 262144), -- where it was not the event's own body
  response_headers json,
  response_body bytea check (length(response_body) <= 16384),
  note text check (length(note) <= 1000), -- what a sandbox with fault injection did to the request, in words
  primary key (merchant_id, environment, event_id, attempt)
) with (
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 50000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_insert_threshold = 200000, autovacuum_analyze_scale_factor = 0.5
);
-- No query searches by these columns, and statistics of them cost time.
alter table delivery_attempts
  alter column url set statistics 0,
  alter column duration_ms set statistics 0,
  alter column succeeded set statistics 0,
  alter column status set statistics 0,
  alter column reason set statistics 0,
  alter column address set statistics 0,
  alter column request_headers set statistics 0,
  alter column request_body set statistics 0,
  alter column response_headers set statistics 0,
  alter column response_body set statistics 0,
  alter column note set statistics 0;
-- A book's attempts across all its events, newest first; and those that failed, of which there may be one among very many.
create index delivery_attempts_newest on delivery_attempts (merchant_id, environment, started_at);
create index delivery_attempts_failed on delivery_attempts (merchant_id, environment, started_at) where not succeeded;

-- Up to which event a book's history is deleted: what is older cannot be proved any more, and is not asked for.
create table retention_watermarks (
  merchant_id uuid not null,
  environment environment not null,
  forgotten_before timestamptz not null,
  swept_to uuid, -- the last event that was looked at
  last_forgotten uuid, -- the newest event that is deleted: a receiver that has heard of it has missed nothing
  primary key (merchant_id, environment),
  foreign key (merchant_id, environment) references books
);

-- Events beyond their age that are kept because they were tried a short while ago, or still wait for an attempt; and when to look
-- again.
create table retained_events (
  merchant_id uuid not null,
  environment environment not null,
  event_id uuid not null,
  look_at timestamptz not null, -- real time
  primary key (merchant_id, environment, event_id)
);
create index retained_events_due on retained_events (merchant_id, environment, look_at);

grant select, insert, delete on events, delivery_attempts to gerbang_app;
grant select, insert, update, delete on deliveries, retained_events to gerbang_app;
grant select, insert, update on retention_watermarks to gerbang_app;
