-- Operators' tokens by name, and what the audit says of who used them and from where.

-- A token is kept as its digest alone. Rows are added, and end: by being revoked, by their time, or by another one that took their place.
-- A name has one row that is neither revoked nor replaced; one that was replaced may be good for a while beside it.
create table operator_tokens (
  token_id uuid primary key,
  name text not null check (name ~ '^[a-z0-9][a-z0-9._-]{0,39}$'),
  role text not null check (role in ('viewer', 'support', 'admin')),
  digest bytea not null check (octet_length(digest) = 32), -- SHA-256 of 160 random bits: nobody guesses what it is of
  created_at timestamptz not null,
  created_by text not null check (length(created_by) between 1 and 40), -- the name of a token, or command-line
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

-- Who did it, by the name of their token, and from where. Null in rows that are older than this, and the address where it was the command line.
alter table operator_audit
  add column actor text check (length(actor) between 1 and 40),
  add column address text check (length(address) <= 60),
  drop constraint operator_audit_role_check,
  add constraint operator_audit_role_check check (role in ('viewer', 'support', 'admin'));
create index operator_audit_actor on operator_audit (actor, audit_id) where status is null;

-- Calls that were refused before anything happened: without a good token, or with one of too low a role. So many of one kind and address are one
-- row, and a process adds a bounded number of rows a minute.
create table operator_refusals (
  refusal_id uuid primary key,
  first_at timestamptz not null,
  last_at timestamptz not null check (last_at >= first_at),
  reason text not null check (reason in ('missing', 'wrong', 'ended', 'role')),
  actor text check (length(actor) between 1 and 40), -- of a token that has ended or whose role is too low
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

grant select, insert on operator_tokens, operator_refusals to gerbang_app;
grant update (expires_at, replaced_by, revoked_at) on operator_tokens to gerbang_app;
grant delete on operator_refusals to gerbang_app;
grant select, insert, update on operator_token_uses to gerbang_app;
