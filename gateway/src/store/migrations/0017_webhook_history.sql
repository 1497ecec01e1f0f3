-- History that lasts as long as it says: what was sent where it was not the event's own body, and events that outlive their
-- age because they were tried a short while ago.

-- What an attempt carried where that was not the event's own body, and what a sandbox that misbehaves did with it, in words.
alter table delivery_attempts
  add column request_body text check (length(request_body) <= 262144),
  add column note text check (length(note) <= 1000);

-- How far a book's events were looked at, and the newest that is forgotten: who has heard of it has missed nothing.
alter table event_horizons
  add column swept_to uuid,
  add column last_forgotten uuid;

-- Events older than history that are kept for the sake of their attempts, or because they still wait for one; and when to look again.
create table retained_events (
  merchant_id uuid not null,
  environment environment not null,
  event_id uuid not null,
  look_at timestamptz not null, -- real time
  primary key (merchant_id, environment, event_id)
);
create index retained_events_due on retained_events (merchant_id, environment, look_at);
grant select, insert, update, delete on retained_events to gerbang_app;

-- What is known of the secret before a rotation. An accepted delivery that carried both signatures does not tell which was
-- verified; one that was refused with the new one alone, and then accepted with both, does.
-- What was kept as needed so far was the former.
alter table webhook_endpoints
  add column previous_carried_at timestamptz, -- when a delivery with both signatures was last accepted
  add column previous_not_needed_at timestamptz, -- when one with the new signature alone was last accepted
  add column probe_at timestamptz; -- real time from which a delivery may be sent with the new signature alone
update webhook_endpoints
set previous_carried_at = previous_needed_at, previous_needed_at = null
where previous_needed_at is not null;
