-- Routing: rules as data, in versions; who stored and activated which, split tests and who is in them, what acquirers charge, and the state of
-- each acquirer.

-- True when every split test of a version gives whole percents, from 1 to 99, to another acquirer, under a name of its own.
create function are_split_tests_sound(rules jsonb) returns boolean language sql immutable set search_path = pg_catalog, pg_temp as $$
  select coalesce(bool_and((
      jsonb_typeof(r -> 'split') = 'object'
      and coalesce(r #>> '{split,id}', '') ~ '^[a-z0-9_]{1,40}$'
      and coalesce(r #>> '{split,gateway_code}', '') ~ '^[a-z_]{1,30}$'
      and r #>> '{split,gateway_code}' <> r ->> 'gateway_code'
      and jsonb_typeof(r #> '{split,percent}') = 'number'
      and r #>> '{split,percent}' ~ '^[1-9][0-9]?$'
    ) is true), true) and count(*) = count(distinct r #>> '{split,id}')
  from jsonb_array_elements(rules) r
  where r ? 'split'
$$;

-- The rules by which payments are routed, one row for each version, which never changes but in whether it is active.
create table routing_rule_sets (
  version integer primary key check (version > 0),
  rules jsonb not null check (jsonb_typeof(rules) = 'array'),
  active boolean not null default false,
  epoch bigint not null,
  created_at timestamptz not null,
  created_by text check (length(created_by) between 1 and 254), -- null: by the installation
  note text check (length(note) between 1 and 200), -- why
  restores integer references routing_rule_sets, -- the earlier version whose rules it has again
  constraint routing_rule_sets_restores_earlier check (restores < version),
  constraint routing_rule_sets_split_tests check (are_split_tests_sound(rules))
);
-- At most one set is active.
create unique index routing_rule_sets_active on routing_rule_sets (active) where active;

create function refuse_rules_change() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  raise exception 'version % of the routing rules cannot change', old.version using errcode = 'GB005';
end
$$;
create trigger routing_rule_sets_kept before update on routing_rule_sets
for each row when (
  (old.version, old.rules, old.created_at, old.created_by, old.note, old.restores)
    is distinct from (new.version, new.rules, new.created_at, new.created_by, new.note, new.restores)
)
execute function refuse_rules_change();
create trigger routing_rule_sets_never_deleted before delete or truncate on routing_rule_sets
for each statement execute function refuse_change();

-- Which version decided from when on, and who let it: one row an activation, the newest is the one that decides.
create table routing_activations (
  activation integer primary key check (activation > 0),
  version integer not null references routing_rule_sets,
  activated_at timestamptz not null,
  activated_by text check (length(activated_by) between 1 and 254) -- null: by the installation
);
create index routing_activations_version on routing_activations (version, activation);
create trigger routing_activations_append_only before update or delete or truncate on routing_activations
for each statement execute function refuse_change();

-- Payments that are in a split test: one test each, in the arm that its first decision drew.
create table payment_splits (
  merchant_id uuid not null,
  environment environment not null,
  payment_id uuid not null,
  split_id text not null check (split_id ~ '^[a-z0-9_]+$' and octet_length(split_id) <= 40),
  arm text not null check (arm in ('control', 'test')),
  percent smallint not null check (percent between 1 and 99),
  control_code text not null check (control_code ~ '^[a-z_]+$' and octet_length(control_code) <= 30),
  test_code text not null check (test_code ~ '^[a-z_]+$' and octet_length(test_code) <= 30),
  primary key (merchant_id, environment, payment_id),
  foreign key (merchant_id, environment, payment_id) references payments,
  constraint payment_splits_two_acquirers check (control_code <> test_code)
);
-- The newest payments of a test.
create index payment_splits_test on payment_splits (split_id, control_code, test_code, percent, payment_id);
create trigger payment_splits_append_only before update or delete or truncate on payment_splits
for each statement execute function refuse_change();

-- What an acquirer charges for a payment, as the operator states it.
create table acquirer_costs (
  gateway_code text not null check (gateway_code ~ '^[a-z_]{1,30}$'),
  method payment_method not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  basis_points integer not null check (basis_points between 0 and 10000),
  flat_minor bigint not null check (flat_minor between 0 and 9007199254740991),
  minimum_minor bigint check (minimum_minor between 0 and 9007199254740991),
  maximum_minor bigint check (maximum_minor between 0 and 9007199254740991),
  set_at timestamptz not null,
  set_by text not null check (length(set_by) between 1 and 254),
  primary key (gateway_code, method, currency),
  constraint acquirer_costs_bounds check (minimum_minor <= maximum_minor)
);

-- Whether an acquirer is enabled by the operator, and how healthy it is.
create table acquirer_states (
  gateway_code text primary key check (gateway_code ~ '^[a-z_]{1,30}$'),
  enabled boolean not null default true,
  health text not null default 'healthy' check (health in ('healthy', 'degraded', 'down')),
  epoch bigint not null
);

grant select, insert on routing_rule_sets, routing_activations, payment_splits to gerbang_app;
grant update (active, epoch) on routing_rule_sets to gerbang_app;
grant select, insert, update on acquirer_states to gerbang_app;
grant select, insert, delete on acquirer_costs to gerbang_app;
