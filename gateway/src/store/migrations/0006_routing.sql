-- Routing rules as data, in versions; and the state of each acquirer.

-- The rules by which payments are routed, one row for each version.
create table routing_rule_sets (
  version integer primary key check (version > 0),
  rules jsonb not null check (jsonb_typeof(rules) = 'array'),
  active boolean not null default false,
  epoch bigint not null,
  created_at timestamptz not null
);
-- At most one set is active.
create unique index routing_rule_sets_active on routing_rule_sets (active) where active;

-- Whether an acquirer is enabled by the operator, and how healthy it is.
create table acquirer_states (
  gateway_code text primary key check (gateway_code ~ '^[a-z_]{1,30}$'),
  enabled boolean not null default true,
  health text not null default 'healthy' check (health in ('healthy', 'degraded', 'down')),
  epoch bigint not null
);

grant select, insert, update on routing_rule_sets, acquirer_states to gerbang_app;
