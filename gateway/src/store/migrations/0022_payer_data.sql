-- What merchants say of payers (name, e-mail address, telephone) is sealed at rest, found again by keyed digests, and can be erased.

-- The keys for it, themselves sealed under the master key: replacing that one writes these few rows, and no payment. The newest of
-- "seal" seals; every one opens what it has sealed. There is one of "contacts" for ever, or no payer would be found again.
create table payer_keys (
  key_id uuid primary key,
  purpose text not null check (purpose in ('seal', 'contacts')),
  key_sealed bytea not null check (length(key_sealed) between 30 and 400),
  created_at timestamptz not null
);
create unique index payer_keys_contacts on payer_keys (purpose) where purpose = 'contacts';
grant select, insert, update (key_sealed) on payer_keys to gerbang_app;

alter table payments
  add column customer_sealed bytea constraint payments_customer_sealed_length check (length(customer_sealed) between 33 and 8192),
  add column payer_erased_at timestamptz,
  add constraint payments_payer_erased check (
    payer_erased_at is null
    or (customer_sealed is null and customer_key is null and phone_key is null)
  );
alter table payments
  alter column customer_sealed set statistics 0,
  alter column payer_erased_at set statistics 0;

-- What is known of a payer is sealed once and erased once. It does not become another's.
create function check_payer_change() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if old.payer_erased_at is null and new.payer_erased_at is not null then
    return new;
  end if;
  raise exception 'payment %: who pays cannot change', old.payment_id using errcode = 'GB006';
end
$$;
create trigger payments_payer
before update of customer_sealed, customer_key, phone_key, payer_erased_at on payments
for each row execute function check_payer_change();

grant update (customer_sealed, customer_key, phone_key, payer_erased_at) on payments to gerbang_app;
