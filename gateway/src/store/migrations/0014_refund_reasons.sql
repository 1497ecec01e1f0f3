-- Why money went back is part of the audit trail: a reason is written once, with its refund.
create or replace function check_refund_change() returns trigger language plpgsql as $$
begin
  if old.status <> new.status and old.status <> 'pending' then
    raise exception 'a refund cannot go from % to %', old.status, new.status using errcode = 'GB006';
  end if;
  if (old.refund_id, old.payment_id, old.amount_minor, old.currency, old.reason, old.created_at)
    is distinct from (new.refund_id, new.payment_id, new.amount_minor, new.currency, new.reason, new.created_at) then
    raise exception 'what a refund was created with cannot change' using errcode = 'GB006';
  end if;
  return new;
end
$$;

-- What an operator looks for when money does not arrive. It is empty but for these.
create index refunds_pending on refunds (merchant_id, environment, refund_id) where status = 'pending';
