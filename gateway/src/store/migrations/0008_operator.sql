-- What operators did, by which tokens, what was refused them, what needs two of them, and replays of books that they asked for.

-- A call that changes something leaves two rows: one written before anything is changed (status null, with what was asked), one
-- before the answer is sent (with its status). A call without the second was cut short, or its outcome could not be recorded: a
-- reader of the audit sees that something was asked and must look at the object itself.
-- The first row of a call carries the request's own identity, so a call is asked once; the second refers to it.
create table operator_audit (
  audit_id uuid primary key,
  at timestamptz not null,
  role text not null check (role in ('viewer', 'support', 'admin')),
  -- Who did it: a token's name, or an operator's e-mail address; and from where, but for the command line.
  actor text not null check (length(actor) between 1 and 254),
  address text check (length(address) <= 60),
  approved_by text check (length(approved_by) between 1 and 254), -- of a change that ran after a second operator approved it
  method text not null check (method in ('POST', 'PUT', 'PATCH', 'DELETE')),
  path text not null check (length(path) between 1 and 512),
  merchant_id uuid,
  request_id uuid not null references operator_audit,
  body json check (octet_length(body::text) <= 16384),
  status smallint check (status between 200 and 599),
  constraint operator_audit_first_row check ((status is null) = (audit_id = request_id)),
  constraint operator_audit_body_in_first_row check (status is null or body is null)
);
-- A call is answered once.
create unique index operator_audit_answers on operator_audit (request_id) where status is not null;
-- What was done to one merchant.
create index operator_audit_merchant on operator_audit (merchant_id, request_id) where merchant_id is not null;
-- What one operator did.
create index operator_audit_actor on operator_audit (actor, audit_id) where status is null;
-- What was asked of one object, refused calls too: by the exact addresses of the calls that change it.
create index operator_audit_path on operator_audit (path, audit_id) where status is null;

create trigger operator_audit_append_only before update or delete or truncate on operator_audit
for each statement execute function refuse_change();

-- A token is kept as its digest alone. Rows are added, and end: by being revoked, by their time, or by another one that took their place.
-- A name has one row that is neither revoked nor replaced; one that was replaced may be good for a while beside it.
create table operator_tokens (
  token_id uuid primary key,
  name text not null check (name ~ '^[a-z0-9][a-z0-9._-]{0,39}$'),
  role text not null check (role in ('viewer', 'support', 'admin')),
  digest bytea not null check (octet_length(digest) = 32), -- SHA-256 of 160 random bits: nobody guesses what it is of
  created_at timestamptz not null,
  created_by text not null check (length(created_by) between 1 and 254), -- a token's name, an operator's e-mail address, or command-line
  expires_at timestamptz, -- null: it ends only when it is revoked
  replaced_by uuid references operator_tokens deferrable initially deferred, -- made in the same transaction, after it
  revoked_at timestamptz,
  -- Names that mean who had no token of this table.
  constraint operator_tokens_reserved check (name not in ('environment', 'environment-viewer', 'command-line'))
);
create unique index operator_tokens_digest on operator_tokens (digest);
create unique index operator_tokens_name on operator_tokens (name) where revoked_at is null and replaced_by is null;

-- A token's rights never change, and what has ended never begins again.
create function refuse_longer_token() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if (new.token_id, new.name, new.role, new.digest, new.created_at, new.created_by)
      is distinct from (old.token_id, old.name, old.role, old.digest, old.created_at, old.created_by)
    or (old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at)
    or (old.replaced_by is not null and new.replaced_by is distinct from old.replaced_by)
    or (old.expires_at is not null and (new.expires_at is null or new.expires_at > old.expires_at))
  then
    raise exception 'a token only ends' using errcode = 'GB005';
  end if;
  return new;
end
$$;
create trigger operator_tokens_only_end before update on operator_tokens
for each row execute function refuse_longer_token();
create trigger operator_tokens_stay before delete or truncate on operator_tokens
for each statement execute function refuse_change();

-- When each token was last used, and from where: written at most once a minute, after the answer, so it may miss what came last.
create table operator_token_uses (
  token_id uuid primary key references operator_tokens,
  used_at timestamptz not null,
  address text not null check (length(address) <= 60)
) with (fillfactor = 50);

-- Calls that were refused before anything happened: without a good token, or with one of too low a role. So many of one kind and address are one
-- row, and a process adds a bounded number of rows a minute.
create table operator_refusals (
  refusal_id uuid primary key,
  first_at timestamptz not null,
  last_at timestamptz not null check (last_at >= first_at),
  reason text not null check (reason in ('missing', 'wrong', 'ended', 'role')),
  actor text check (length(actor) between 1 and 254), -- of a token that has ended or whose role is too low
  address text check (length(address) <= 60), -- null: of addresses beyond those that are told apart
  count integer not null check (count > 0)
);

-- Refusals are forgotten after a month, and not before.
create function refuse_young_refusal() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if old.last_at > now() - interval '30 days' then
    raise exception 'operator_refusals keeps what is younger than 30 days' using errcode = 'GB005';
  end if;
  return old;
end
$$;
create trigger operator_refusals_stay before delete on operator_refusals
for each row execute function refuse_young_refusal();
create trigger operator_refusals_append_only before update or truncate on operator_refusals
for each statement execute function refuse_change();

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
      and decided_kind is not null and decided_kind <> 'environment' and decided_made_at is not null and decided_made_at < asked_at
    )
  ),
  -- Who asked can take it back, and nobody else; whoever refuses is somebody else.
  constraint operator_approvals_withdrawn check (
    status <> 'withdrawn'
    or ((decided_kind, decided_id) is not distinct from (asked_kind, asked_id) and decided_at is not null)
  ),
  constraint operator_approvals_refused check (
    status <> 'refused' or (
      decided_kind is not null and decided_id is not null and decided_at is not null
      and (decided_kind, decided_id) <> (asked_kind, asked_id)
    )
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

-- One replay of a book. The process that replays writes about once a second how far it is; one that was not heard of for a while has gone.
create table book_verifications (
  merchant_id uuid not null,
  environment environment not null,
  verification_id uuid not null,
  status text not null check (status in ('running', 'clean', 'wrong', 'stopped', 'interrupted')),
  started_by text not null check (length(started_by) <= 254),
  started_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  stopped_by text check (length(stopped_by) <= 254), -- who asked that it ends
  journals bigint not null default 0 check (journals >= 0),
  journals_in_all bigint not null default 0 check (journals_in_all >= journals),
  journals_ms bigint not null default 0 check (journals_ms >= 0), -- how long the journals took so far
  checks integer not null default 0,
  checks_in_all integer not null default 0 check (checks between 0 and checks_in_all),
  rows_held bigint not null default 0 check (rows_held >= 0),
  wrong text check (length(wrong) <= 2000),
  head_hash bytea check (length(head_hash) = 32),
  primary key (merchant_id, environment, verification_id),
  foreign key (merchant_id, environment) references books,
  constraint book_verifications_ended check ((ended_at is null) = (status = 'running')),
  constraint book_verifications_found check ((wrong is not null) = (status = 'wrong')),
  constraint book_verifications_head check (head_hash is null or status in ('clean', 'wrong'))
);
create unique index book_verifications_running on book_verifications (merchant_id, environment) where status = 'running';

grant select, insert on operator_audit to gerbang_app;
grant select, insert on operator_tokens, operator_refusals to gerbang_app;
grant update (expires_at, replaced_by, revoked_at) on operator_tokens to gerbang_app;
grant delete on operator_refusals to gerbang_app;
grant select, insert, update on operator_token_uses to gerbang_app;
grant select, insert on operator_approval_policies to gerbang_app;
grant select, insert on operator_approvals to gerbang_app;
grant update (status, decided_kind, decided_id, decided_by, decided_made_at, decided_at, note, run_id, attempts, leased_until, answer_status,
  answer, ended_at) on operator_approvals to gerbang_app;
grant select, insert, update, delete on book_verifications to gerbang_app;
