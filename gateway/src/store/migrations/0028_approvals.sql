-- Four eyes: which changes of operators need a second one, and those that wait for one, were decided, or ran.

-- Which changes need a second operator. Rows are added, never changed, and the newest decides; without any nothing needs one.
create table operator_approval_policies (
  version integer primary key check (version > 0),
  rules json not null check (octet_length(rules::text) <= 65536),
  changed_at timestamptz not null default clock_timestamp(),
  changed_by text not null check (length(changed_by) between 1 and 254)
);
create trigger operator_approval_policies_append_only before update or delete or truncate on operator_approval_policies
for each statement execute function refuse_change();

-- A change that one operator asked for and another one decides. The request is kept whole, to the byte, and what was asked never changes. A
-- decision is for good: it takes the row from `waiting` once. `executing` until what came of it is known.
create table operator_approvals (
  approval_id uuid primary key,
  action text not null check (action ~ '^[a-z_]{1,40}$'),
  operation text not null check (length(operation) between 1 and 60),
  method text not null check (method in ('POST', 'PUT', 'PATCH', 'DELETE')),
  path text not null check (length(path) between 1 and 512),
  body bytea not null check (octet_length(body) <= 65536),
  body_digest bytea not null,
  request_key text check (length(request_key) between 8 and 255), -- of a change that was asked for under a key
  summary text not null check (length(summary) between 1 and 1000),
  merchant_id uuid references merchants,
  environment environment,
  payment_id uuid,
  amount_minor bigint check (amount_minor >= 0),
  currency text check (currency ~ '^[A-Z]{3}$'),
  least_role text not null check (least_role in ('viewer', 'support', 'admin')),
  policy_version integer not null references operator_approval_policies,
  request_id uuid not null,
  asked_kind text not null check (asked_kind in ('token', 'person', 'environment')),
  asked_id text not null check (length(asked_id) between 1 and 60),
  asked_by text not null check (length(asked_by) between 1 and 254),
  asked_role text not null check (asked_role in ('viewer', 'support', 'admin')),
  asked_at timestamptz not null default clock_timestamp(),
  status text not null default 'waiting'
    check (status in ('waiting', 'executing', 'executed', 'failed', 'unknown', 'refused', 'withdrawn', 'expired')),
  decided_kind text check (decided_kind in ('token', 'person', 'environment')),
  decided_id text check (length(decided_id) between 1 and 60),
  decided_by text check (length(decided_by) between 1 and 254),
  decided_made_at timestamptz, -- when the approver's token, or the person, came to be
  decided_at timestamptz,
  note text check (length(note) between 1 and 500),
  run_id uuid, -- under which the change itself is in the audit
  attempts smallint not null default 0 check (attempts between 0 and 100),
  leased_until timestamptz,
  answer_status smallint check (answer_status between 200 and 599),
  answer json check (octet_length(answer::text) <= 16384),
  ended_at timestamptz,
  -- The bytes are those that were asked for.
  constraint operator_approvals_digest check (body_digest = sha256(body)),
  constraint operator_approvals_money check ((amount_minor is null) = (currency is null)),
  constraint operator_approvals_book check ((merchant_id is null) = (environment is null)),
  -- Two operators: whoever approves has another identity and another name than whoever asked, and one that came to be before the question.
  constraint operator_approvals_two check (
    status not in ('executing', 'executed', 'failed', 'unknown')
    or (
      decided_id is not null and decided_by is not null and decided_at is not null and run_id is not null
      and (decided_kind, decided_id) <> (asked_kind, asked_id) and lower(decided_by) <> lower(asked_by)
      and decided_kind <> 'environment' and decided_made_at is not null and decided_made_at < asked_at
    )
  ),
  -- Who asked can take it back, and nobody else; whoever refuses is somebody else.
  constraint operator_approvals_withdrawn check (
    status <> 'withdrawn' or (decided_kind = asked_kind and decided_id = asked_id and decided_at is not null)
  ),
  constraint operator_approvals_refused check (
    status <> 'refused' or (decided_at is not null and (decided_kind, decided_id) <> (asked_kind, asked_id))
  ),
  constraint operator_approvals_undecided check (
    status not in ('waiting', 'expired') or (decided_id is null and decided_at is null and run_id is null)
  ),
  constraint operator_approvals_lease check ((status = 'executing') = (leased_until is not null)),
  constraint operator_approvals_answer check (
    (status in ('executed', 'failed')) = (answer_status is not null) and (answer is null or answer_status is not null)
  )
);
-- A key stands for one change.
create unique index operator_approvals_key on operator_approvals (request_key) where request_key is not null;
-- The same change waits once.
create unique index operator_approvals_same on operator_approvals (path, method, body_digest)
where status = 'waiting' and request_key is null;
-- What waits, by who asked; and what began and has no outcome.
create index operator_approvals_waiting on operator_approvals (asked_by, approval_id) where status = 'waiting';
create index operator_approvals_executing on operator_approvals (leased_until) where status = 'executing';
create index operator_approvals_status on operator_approvals (status, approval_id);

-- What was asked never changes, and a decision is never taken again.
create function refuse_second_decision() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if (new.approval_id, new.action, new.operation, new.method, new.path, new.body, new.body_digest, new.request_key, new.summary)
      is distinct from (old.approval_id, old.action, old.operation, old.method, old.path, old.body, old.body_digest, old.request_key, old.summary)
    or (new.merchant_id, new.environment, new.payment_id, new.amount_minor, new.currency, new.least_role, new.policy_version, new.request_id)
      is distinct from (old.merchant_id, old.environment, old.payment_id, old.amount_minor, old.currency, old.least_role, old.policy_version, old.request_id)
    or (new.asked_kind, new.asked_id, new.asked_by, new.asked_role, new.asked_at)
      is distinct from (old.asked_kind, old.asked_id, old.asked_by, old.asked_role, old.asked_at)
  then
    raise exception 'what was asked for never changes' using errcode = 'GB005';
  end if;
  if old.status not in ('waiting', 'executing')
    or (old.status = 'executing' and new.status not in ('executing', 'executed', 'failed', 'unknown'))
    or (old.status = 'waiting' and new.status not in ('executing', 'refused', 'withdrawn', 'expired'))
    or (old.status = 'executing' and (new.decided_kind, new.decided_id, new.decided_by, new.decided_made_at, new.decided_at, new.note, new.run_id)
      is distinct from (old.decided_kind, old.decided_id, old.decided_by, old.decided_made_at, old.decided_at, old.note, old.run_id))
  then
    raise exception 'an approval is decided once' using errcode = 'GB005';
  end if;
  return new;
end
$$;
create trigger operator_approvals_decided_once before update on operator_approvals
for each row execute function refuse_second_decision();
create trigger operator_approvals_stay before delete or truncate on operator_approvals
for each statement execute function refuse_change();

-- A change that ran after a second operator approved it names both: who asked for it is its actor.
alter table operator_audit add column approved_by text check (length(approved_by) between 1 and 254);

grant select, insert on operator_approval_policies to gerbang_app;
grant select, insert on operator_approvals to gerbang_app;
grant update (status, decided_kind, decided_id, decided_by, decided_made_at, decided_at, note, run_id, attempts, leased_until, answer_status,
  answer, ended_at) on operator_approvals to gerbang_app;
