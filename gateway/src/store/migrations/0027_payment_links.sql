-- Payment links: addresses at which whoever has one may pay, once or many times. Each use is a payment like any other.

create table payment_links (
  merchant_id uuid not null,
  environment environment not null,
  link_id uuid not null,
  token bytea not null check (length(token) = 16), -- 128 random bits, the end of its address
  reusable boolean not null,
  customer_required boolean not null,
  payment_expires_in integer not null check (payment_expires_in between 60 and 86400),
  created_at timestamptz not null,
  expires_at timestamptz check (expires_at > created_at), -- null: never
  deactivated_at timestamptz,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  amount_minor bigint check (amount_minor between 1 and 9007199254740991), -- null: the payer says how much
  minimum_minor bigint check (minimum_minor between 1 and 9007199254740991),
  maximum_minor bigint check (maximum_minor between 1 and 9007199254740991),
  -- Null: every method that is active when it is paid. A list, because rows are written as arrays of columns, and no array holds arrays.
  payment_methods text check (payment_methods ~ '^(qris|va|card|ewallet|bank_transfer)(,(qris|va|card|ewallet|bank_transfer)){0,4}$'),
  description text check (length(description) <= 255),
  return_url text check (return_url like 'https://%' and length(return_url) <= 2048),
  metadata json,
  primary key (merchant_id, environment, link_id),
  foreign key (merchant_id, environment) references books,
  constraint payment_links_reusable unique (merchant_id, environment, link_id, reusable), -- for the payments to refer to
  constraint payment_links_amount check (amount_minor is null or num_nonnulls(minimum_minor, maximum_minor) = 0),
  constraint payment_links_bounds check (minimum_minor <= maximum_minor)
);
-- How a payer's address finds its link. Searched by the digest: how long the search takes then says nothing of the token.
create unique index payment_links_token on payment_links (merchant_id, sha256(token));

-- A link stays as it was made until it is deactivated, and is not activated again.
create function check_payment_link_change() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if old.deactivated_at is not null or to_jsonb(old) - 'deactivated_at' is distinct from to_jsonb(new) - 'deactivated_at' then
    raise exception 'payment link %: only its end can be written, once', old.link_id using errcode = 'GB006';
  end if;
  return new;
end
$$;
create trigger payment_links_change before update on payment_links
for each row execute function check_payment_link_change();

grant select, insert, update (deactivated_at) on payment_links to gerbang_app;

-- A payment's link, and that link's own word on whether it may be used again.
alter table payments
  add column link_id uuid,
  add column link_reusable boolean,
  add constraint payments_link_whole check (num_nulls(link_id, link_reusable) <> 1),
  add constraint payments_link foreign key (merchant_id, environment, link_id, link_reusable)
  references payment_links (merchant_id, environment, link_id, reusable);
alter table payments
  alter column link_reusable set statistics 0;

-- A link that is used once has one payment that is open or paid, whoever asks at the same moment.
create unique index payments_link_once on payments (merchant_id, environment, link_id)
where link_id is not null and not link_reusable
  and status in ('pending', 'processing', 'succeeded', 'partially_refunded', 'refunded');
-- A link's payments, newest first, and how many came lately.
create index payments_of_link on payments (merchant_id, environment, link_id, payment_id) where link_id is not null;

-- A payment by a link is of the link's currency and within its amounts, and began while the link was open.
create function check_payment_of_link() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if not exists (
    select from payment_links l
    where l.merchant_id = new.merchant_id and l.environment = new.environment and l.link_id = new.link_id
      and l.currency = new.currency
      and new.amount_minor between coalesce(l.amount_minor, l.minimum_minor, 1)
        and coalesce(l.amount_minor, l.maximum_minor, 9007199254740991)
      and l.deactivated_at is null
      and (l.expires_at is null or l.expires_at > new.created_at)
  ) then
    raise exception 'payment %: its link does not allow it', new.payment_id using errcode = 'GB006';
  end if;
  return new;
end
$$;
create trigger payments_by_link before insert on payments
for each row when (new.link_id is not null)
execute function check_payment_of_link();
create trigger payments_link_origin before update of link_id, link_reusable on payments
for each row execute function refuse_payment_change('the link that it came by cannot change');
