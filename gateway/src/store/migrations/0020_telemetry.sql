-- How the processes of the installation do, over time.

-- Processes of the service, as each tells of itself. One that was not seen for a while has gone, whether it could say so or not.
create table telemetry_processes (
  process_id uuid primary key,
  version text not null check (length(version) <= 40),
  node text not null check (length(node) <= 40),
  host text not null check (length(host) <= 64),
  pid integer not null,
  roles text not null check (roles in ('api', 'worker', 'api worker')),
  started_at timestamptz not null,
  seen_at timestamptz not null,
  ended_at timestamptz -- it stopped in order
) with (fillfactor = 50);
create index telemetry_processes_seen on telemetry_processes (seen_at);

-- What a process measured in a span: every five seconds by itself, and folded into minutes and hours. Counts are of the span, levels and
-- peaks are the highest in it.
create table telemetry_samples (
  step_seconds integer not null check (step_seconds in (5, 60, 3600)),
  at timestamptz not null check (extract(epoch from at) % step_seconds = 0), -- when the span begins
  process_id uuid not null,
  measured_ms integer not null check (measured_ms > 0), -- how much time the counts are of
  requests integer not null,
  requests_rejected integer not null,
  requests_failed integer not null,
  request_p95_ms real not null,
  payments integer not null,
  lane_commands integer not null,
  lane_batches integer not null,
  lane_batches_failed integer not null,
  lane_queue real not null,
  commit_p95_ms real not null,
  attempts integer not null,
  attempts_failed integer not null,
  delivery_lag_p95_ms real not null,
  delivery_oldest_seconds real not null,
  acquirer_calls integer not null,
  acquirer_calls_failed integer not null,
  acquirer_in_flight real not null,
  loop_lag_ms real not null,
  clock_skew_ms real not null,
  connections_busy real not null,
  connections_waiting real not null,
  memory_mib real not null,
  cpu_ms integer not null,
  roll_up_age_seconds real not null,
  primary key (step_seconds, at, process_id)
);

-- The same of one acquirer and method, in spans in which it was called or left alone.
create table telemetry_acquirers (
  step_seconds integer not null check (step_seconds in (5, 60, 3600)),
  at timestamptz not null check (extract(epoch from at) % step_seconds = 0),
  process_id uuid not null,
  gateway_code text not null check (length(gateway_code) <= 30),
  method text not null check (length(method) <= 30), -- it may be well with one and not with another
  calls integer not null,
  refused integer not null,
  unknown integer not null,
  call_ms integer not null, -- of all calls together
  is_open boolean not null, -- some circuit was open
  primary key (step_seconds, at, process_id, gateway_code, method)
);

-- The circuits of each process as they are now, written when they change.
create table telemetry_circuits (
  process_id uuid not null references telemetry_processes on delete cascade,
  gateway_code text not null check (length(gateway_code) <= 30),
  method payment_method not null,
  state text not null check (state in ('closed', 'open', 'probing')),
  calls integer not null check (calls >= 0),
  failures integer not null check (failures between 0 and calls),
  changed_at timestamptz not null, -- when its state did
  primary key (process_id, gateway_code, method)
) with (fillfactor = 50);

grant select, insert, update, delete on telemetry_processes, telemetry_samples, telemetry_acquirers, telemetry_circuits to gerbang_app;
