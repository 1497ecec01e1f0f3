-- People who sign in: who they are, what they may do for which merchant or as operators, and how they prove who they are.

-- A person. One person may act for several merchants, so nothing here belongs to one.
create table persons (
  person_id uuid primary key,
  email text not null check (email = lower(email) and length(email) between 3 and 254),
  name text not null check (length(name) between 1 and 120),
  password_hash text check (length(password_hash) between 20 and 300), -- null until one is chosen
  -- The secret of an authenticator, sealed. It counts once a code of it was shown.
  totp_sealed bytea check (length(totp_sealed) between 30 and 400),
  totp_confirmed_at timestamptz,
  totp_used_step bigint check (totp_used_step >= 0), -- the newest step of which a code was used: each is good once
  language text check (language in ('id', 'en')), -- null: as the browser asks
  time_zone text check (length(time_zone) between 1 and 64), -- IANA's name; null: as the browser has it
  created_at timestamptz not null,
  closed_at timestamptz, -- may not sign in any more
  constraint persons_totp_confirmed check (totp_confirmed_at is null or totp_sealed is not null)
);
create unique index persons_email on persons (email);

-- What a person may do for a merchant.
create table memberships (
  merchant_id uuid not null references merchants,
  person_id uuid not null references persons,
  role text not null check (role in ('owner', 'developer', 'finance', 'support', 'viewer')),
  created_at timestamptz not null,
  primary key (merchant_id, person_id)
);
create index memberships_of_person on memberships (person_id);

-- A merchant that has had an owner always has one: nobody else could let another one in. Rows of one merchant are locked before they are
-- counted, so that of two owners who leave at once one stays.
create function keep_an_owner() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  perform from merchants where merchant_id = old.merchant_id for no key update;
  if not exists (select from memberships where merchant_id = old.merchant_id and role = 'owner') then
    raise exception 'a merchant keeps an owner' using errcode = 'GB011';
  end if;
  return null;
end
$$;
create constraint trigger memberships_keep_an_owner after update or delete on memberships deferrable initially deferred
for each row when (old.role = 'owner')
execute function keep_an_owner();

-- What a person may do in the console. A row goes when somebody is taken out; the audit of operators keeps who did that.
create table operators (
  person_id uuid primary key references persons,
  role text not null check (role in ('viewer', 'support', 'admin')),
  created_at timestamptz not null,
  created_by text not null check (length(created_by) between 1 and 254) -- who let them in: a token's name, an operator's address, or command-line
);

-- Codes for who has lost the authenticator, each good once. Only digests are kept.
create table recovery_codes (
  person_id uuid not null references persons,
  code_digest bytea not null check (length(code_digest) = 32),
  used_at timestamptz,
  primary key (person_id, code_digest)
);

-- Passkeys: a public key each, whose private one never leaves the person's device. Ten a person, by their slots.
create table passkeys (
  credential_id bytea primary key check (length(credential_id) between 1 and 1023), -- as the device calls it
  passkey_id uuid not null, -- names it in lists
  person_id uuid not null references persons,
  slot smallint not null check (slot between 1 and 10),
  public_key bytea not null check (length(public_key) between 30 and 4000), -- COSE
  counter bigint not null check (counter between 0 and 4294967295), -- of signatures; devices that do not count say 0
  transports text[] not null check (cardinality(transports) <= 10),
  backed_up boolean not null, -- true where the device keeps a copy elsewhere
  name text not null check (length(name) between 1 and 60),
  created_at timestamptz not null,
  used_at timestamptz
);
create unique index passkeys_by_id on passkeys (passkey_id);
create unique index passkeys_of_person on passkeys (person_id, slot);

-- What a device has to sign, once. A slot is taken by whoever asks next for it, so there are never more rows than slots, whoever asks how
-- often. A crash of PostgreSQL may forget them: the person tries again.
create unlogged table passkey_challenges (
  slot integer primary key check (slot between 0 and 262143),
  challenge bytea not null check (length(challenge) = 32),
  purpose text not null check (purpose in ('registration', 'sign_in', 'proof')),
  person_id uuid, -- for whom it is; null: whoever signs in by it
  expires_at timestamptz not null,
  constraint passkey_challenges_person check ((person_id is null) = (purpose = 'sign_in'))
);
create unique index passkey_challenges_challenge on passkey_challenges (challenge);
create index passkey_challenges_expiry on passkey_challenges (expires_at);

-- Links that sign somebody in, once: made by the operator's commands, and by a development's start.
create table sign_in_links (
  token_digest bytea primary key check (length(token_digest) = 32),
  person_id uuid not null references persons,
  purpose text not null check (purpose in ('sign_in', 'reset')), -- reset: everything by which the person signs in is made anew
  created_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > created_at),
  used_at timestamptz
);
create index sign_in_links_of_person on sign_in_links (person_id) where used_at is null;
create index sign_in_links_expiry on sign_in_links (expires_at);

-- Who is signed in. The token is in the browser alone; here is its digest.
create table sessions (
  token_digest bytea primary key check (length(token_digest) = 32),
  session_id uuid not null, -- names it in lists
  person_id uuid not null references persons,
  -- A session of the portal is worth nothing in the console, and the other way round.
  surface text not null default 'portal' check (surface in ('portal', 'console')),
  created_at timestamptz not null,
  seen_at timestamptz not null, -- to a minute
  proved_at timestamptz not null, -- when the person last proved who they are, with all that is asked of them
  address text not null check (length(address) <= 60),
  user_agent text not null check (length(user_agent) <= 300),
  ended_at timestamptz
);
create unique index sessions_by_id on sessions (session_id);
create index sessions_of_person on sessions (person_id, created_at) where ended_at is null;
create index sessions_age on sessions (created_at);

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

-- A link that lets somebody into a merchant, once.
create table invitations (
  merchant_id uuid not null references merchants,
  invitation_id uuid not null,
  token_digest bytea not null check (length(token_digest) = 32),
  role text not null check (role in ('owner', 'developer', 'finance', 'support', 'viewer')),
  email text check (email = lower(email) and length(email) between 3 and 254), -- where given, only this person may accept
  invited_by uuid references persons, -- null: the operator
  created_at timestamptz not null,
  expires_at timestamptz not null,
  accepted_by uuid references persons,
  ended_at timestamptz, -- accepted or taken back
  primary key (merchant_id, invitation_id),
  constraint invitations_accepted check (accepted_by is null or ended_at is not null)
);
create unique index invitations_token on invitations (token_digest);

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

-- Signing in from a command line (RFC 8628): a program shows a person a short code, and asks with a long one until they have answered.
create table device_codes (
  device_digest bytea primary key check (length(device_digest) = 32), -- of the long code, which the program alone has
  user_code text not null check (user_code ~ '^[BCDFGHJKLMNPQRSTVWXZ]{8}$'), -- the short one, as the person types it
  -- What asks: how it calls its key, for which environment, and from where.
  name text not null check (length(name) between 1 and 60),
  environment text not null check (environment in ('sandbox', 'production')),
  address text not null check (length(address) <= 60),
  address_group text not null check (length(address_group) <= 60), -- as limits count addresses
  user_agent text not null check (length(user_agent) <= 300),
  created_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > created_at),
  -- When the program last asked, and how long it has to wait in between.
  polled_at timestamptz,
  interval_seconds smallint not null check (interval_seconds between 1 and 60),
  -- The answer, once: by whom, for which merchant, and what the key may do. Without a merchant it is a refusal.
  answered_at timestamptz,
  person_id uuid references persons,
  session_id uuid, -- in which they answered: once it has ended, the program gets no key
  merchant_id uuid references merchants,
  scopes text[] check (cardinality(scopes) between 1 and 20),
  used_at timestamptz, -- when the program got its key: once
  constraint device_codes_answer check (
    (answered_at is null) = (person_id is null)
    and (answered_at is null) = (session_id is null)
    and (merchant_id is null) = (scopes is null)
    and (merchant_id is null or person_id is not null)
    and (used_at is null or merchant_id is not null)
  )
);
create unique index device_codes_user_code on device_codes (user_code);
create index device_codes_of_address on device_codes (address_group, expires_at);
create index device_codes_expiry on device_codes (expires_at);

-- Sign-ins that failed lately, by account and by address, in windows of fifteen minutes. A crash of PostgreSQL may forget them.
create unlogged table sign_in_failures (
  name text not null check (length(name) <= 300),
  window_start bigint not null, -- Unix seconds
  failures integer not null check (failures >= 0),
  primary key (name, window_start)
);

-- What people did: with their own access (signed in or failed to, changed a password), and what they asked a merchant's endpoints to change.
-- Such a call has two rows, one before anything is changed and one with the status of its answer. Never a secret.
create table people_audit (
  audit_id uuid primary key, -- of the first row of a call: its request
  at timestamptz not null,
  action text not null check (action ~ '^[a-z_]{1,40}$'),
  person_id uuid, -- who did it; null when nobody is known
  merchant_id uuid,
  address text check (length(address) <= 60),
  details json check (octet_length(details::text) <= 2048),
  request_id uuid, -- of a call; null where something was done by other means
  environment text check (environment in ('sandbox', 'production')),
  path text check (length(path) <= 512), -- of a call: its method and its address as sent, without the query
  status smallint, -- of a call: that of its answer, in the second row
  constraint people_audit_call check ((request_id is null) = (path is null)),
  constraint people_audit_answer check (status is null or request_id is not null)
);
create index people_audit_answers on people_audit (request_id) where status is not null;
create index people_audit_of_person on people_audit (person_id, audit_id);
create index people_audit_of_merchant on people_audit (merchant_id, audit_id) where merchant_id is not null;
-- Of the attempts at accounts that nobody has: the retention finds the old ones by it.
create index people_audit_of_nobody on people_audit (at) where person_id is null and merchant_id is null;
create trigger people_audit_append_only before update or truncate on people_audit
for each statement execute function refuse_change();
-- Anybody can make such attempts, as many as they like: they are forgotten after thirty days, and nothing else is.
create function forget_only_nobody() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if old.person_id is null and old.merchant_id is null and old.at < statement_timestamp() - interval '30 days' then
    return old;
  end if;
  raise exception '% is append-only', tg_table_name using errcode = 'GB005';
end $$;
create trigger people_audit_forgets_nobody before delete on people_audit
for each row execute function forget_only_nobody();
grant delete on people_audit to gerbang_app;

grant select, insert on persons, memberships, recovery_codes, sessions, invitations, people_audit, passkeys,
sign_in_links to gerbang_app;
grant update (name, password_hash, totp_sealed, totp_confirmed_at, totp_used_step, language, time_zone, closed_at)
on persons to gerbang_app;
grant update (role), delete on memberships to gerbang_app;
grant update (used_at), delete on recovery_codes to gerbang_app;
grant update (counter, backed_up, used_at), delete on passkeys to gerbang_app;
grant select, insert, update, delete on passkey_challenges to gerbang_app;
grant update (used_at), delete on sign_in_links to gerbang_app;
-- A session lasts when its person proves again who they are, and only its token changes: what they began before, a long upload or an open
-- stream, goes on.
grant update (token_digest, created_at, address, user_agent, seen_at, proved_at, ended_at), delete on sessions to gerbang_app;
grant update (accepted_by, ended_at) on invitations to gerbang_app;
grant select, insert, update, delete on sign_in_failures to gerbang_app;
grant select, insert, delete on operators to gerbang_app;
grant update (role) on operators to gerbang_app;
grant select, insert on operator_invitations to gerbang_app;
grant update (accepted_by, ended_at) on operator_invitations to gerbang_app;
grant select, insert, delete on device_codes to gerbang_app;
grant update (environment, polled_at, interval_seconds, answered_at, person_id, session_id, merchant_id, scopes, used_at)
on device_codes to gerbang_app;
