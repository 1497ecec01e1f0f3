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
  -- Real payers go back to https alone. A developer who tries the sandbox goes back to a program of their own machine, which has no
  -- certificate.
  return_url text constraint payment_links_return_url_check check (
    length(return_url) <= 2048
    and (
      return_url like 'https://%'
      or (environment = 'sandbox' and return_url ~ '^http://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?([/?#]|$)')
    )
  ),
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
