-- The status page: what the service measured of itself, and what operators say about it.

-- What one process measured of one component in one minute of the database's clock: how often it did its work well, too slowly, or failed.
-- A process writes its own rows, again while the minute lasts. Kept for three days.
create table status_minutes (
  minute timestamptz not null check (date_trunc('minute', minute, 'UTC') = minute),
  component text not null check (component ~ '^[a-z_]{1,40}$'),
  process_id uuid not null,
  good integer not null check (good >= 0),
  slow integer not null check (slow >= 0),
  bad integer not null check (bad >= 0),
  primary key (minute, component, process_id),
  constraint status_minutes_measured check (good + slow + bad > 0)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);

-- A day of a component: its minutes by what they were. A minute in which nothing was measured is none of them. Kept for ninety days.
create table status_days (
  day date not null,
  component text not null check (component ~ '^[a-z_]{1,40}$'),
  operational smallint not null check (operational >= 0),
  degraded smallint not null check (degraded >= 0),
  outage smallint not null check (outage >= 0),
  maintenance smallint not null check (maintenance >= 0),
  counted_at timestamptz not null, -- by the database's clock
  primary key (day, component),
  constraint status_days_minutes check (operational + degraded + outage + maintenance between 1 and 1440)
) with (fillfactor = 50);

-- What operators tell everybody: something that happens, or work that is planned. Texts are plain text.
create table incidents (
  incident_id uuid primary key,
  title text not null check (length(title) between 1 and 120),
  impact text not null check (impact in ('none', 'minor', 'major', 'critical', 'maintenance')),
  components text[] not null check (array_ndims(components) is null or (array_ndims(components) = 1 and cardinality(components) <= 20)),
  starts_at timestamptz not null,
  ends_at timestamptz constraint incidents_ends_after_start check (ends_at > starts_at), -- planned work alone has an end beforehand
  resolved_at timestamptz,
  created_at timestamptz not null,
  created_by text not null check (length(created_by) between 1 and 254),
  constraint incidents_planned_end check ((ends_at is not null) = (impact = 'maintenance'))
);
create index incidents_open on incidents (incident_id) where resolved_at is null;
create index incidents_windows on incidents (ends_at) where impact = 'maintenance';

-- When and by whom an incident was told stays, and no incident goes.
create function refuse_other_incident() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if (new.incident_id, new.created_at, new.created_by) is distinct from (old.incident_id, old.created_at, old.created_by)
    or (new.impact = 'maintenance') <> (old.impact = 'maintenance')
  then
    raise exception 'an incident stays what it is' using errcode = 'GB005';
  end if;
  return new;
end
$$;
create trigger incidents_stay_the_same before update on incidents
for each row execute function refuse_other_incident();
create trigger incidents_stay before delete or truncate on incidents
for each statement execute function refuse_change();

-- What was said about an incident, one after the other. A correction is a row of its own, and names what it takes the place of.
create table incident_updates (
  update_id uuid primary key,
  incident_id uuid not null references incidents,
  status text not null check (status in ('scheduled', 'investigating', 'identified', 'monitoring', 'resolved')),
  message text not null check (length(message) between 1 and 2000),
  at timestamptz not null,
  by text not null check (length(by) between 1 and 254),
  corrects uuid references incident_updates check (corrects <> update_id)
);
create index incident_updates_of on incident_updates (incident_id, update_id);

create trigger incident_updates_append_only before update or delete or truncate on incident_updates
for each statement execute function refuse_change();

grant select, insert, update, delete on status_minutes, status_days to gerbang_app;
grant select, insert on incidents, incident_updates to gerbang_app;
grant update (title, impact, components, starts_at, ends_at, resolved_at) on incidents to gerbang_app;
