-- Operators as people: who runs the gateway, how they are let in, and on which surface a session counts.

-- What a person may do in the console. A row goes when somebody is taken out; the audit of operators keeps who did that.
create table operators (
  person_id uuid primary key references persons,
  role text not null check (role in ('viewer', 'support', 'admin')),
  created_at timestamptz not null,
  created_by text not null check (length(created_by) between 1 and 254) -- who let them in: a token's name, an operator's address, or command-line
);

-- A link that makes somebody an operator, once.
create table operator_invitations (
  invitation_id uuid primary key,
  token_digest bytea not null check (octet_length(token_digest) = 32),
  role text not null check (role in ('viewer', 'support', 'admin')),
  email text check (email = lower(email) and length(email) between 3 and 254), -- where given, only this person may accept
  invited_by text not null check (length(invited_by) between 1 and 254),
  created_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > created_at),
  accepted_by uuid references persons,
  ended_at timestamptz, -- accepted or taken back
  constraint operator_invitations_accepted check (accepted_by is null or ended_at is not null)
);
create unique index operator_invitations_token on operator_invitations (token_digest);
create index operator_invitations_open on operator_invitations (invitation_id) where ended_at is null;

-- A session of the portal is worth nothing in the console, and the other way round.
alter table sessions add column surface text not null default 'portal' check (surface in ('portal', 'console'));

-- Whoever begins a session of the console is an operator at that moment, whatever way they came.
create function refuse_console_session() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if new.surface = 'console' and not exists (select from operators where person_id = new.person_id) then
    raise exception 'only operators have sessions of the console' using errcode = 'GB013';
  end if;
  return new;
end
$$;
create trigger sessions_of_operators before insert on sessions
for each row execute function refuse_console_session();

-- Operators are known by their e-mail address, which is longer than a token's name.
alter table operator_audit
  drop constraint operator_audit_actor_check,
  add constraint operator_audit_actor_check check (length(actor) between 1 and 254);
alter table operator_refusals
  drop constraint operator_refusals_actor_check,
  add constraint operator_refusals_actor_check check (length(actor) between 1 and 254);
alter table operator_tokens
  drop constraint operator_tokens_created_by_check,
  add constraint operator_tokens_created_by_check check (length(created_by) between 1 and 254);

grant select, insert, delete on operators to gerbang_app;
grant update (role) on operators to gerbang_app;
grant select, insert on operator_invitations to gerbang_app;
grant update (accepted_by, ended_at) on operator_invitations to gerbang_app;
