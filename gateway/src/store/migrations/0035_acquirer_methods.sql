-- How an acquirer does is told by method: it may be well with one and not with another. Empty in rows of before.
alter table telemetry_acquirers add column method text not null default '' check (length(method) <= 30);
alter table telemetry_acquirers drop constraint telemetry_acquirers_pkey;
alter table telemetry_acquirers add primary key (step_seconds, at, process_id, gateway_code, method);
