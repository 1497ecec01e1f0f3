-- What a payment may become, as before; looked up only when it becomes something: a refund changes sums, and seldom the status.
create or replace function check_payment_change() returns trigger language plpgsql as
$$
begin
  if old.status <> new.status and not (case old.status
    when 'pending' then new.status in ('processing', 'succeeded', 'failed', 'expired', 'canceled')
    when 'processing' then new.status in ('succeeded', 'failed')
    when 'succeeded' then new.status in ('partially_refunded', 'refunded')
    when 'partially_refunded' then new.status = 'refunded'
    else false
  end) then
    raise exception 'a payment cannot go from % to %', old.status, new.status using errcode = 'GB006';
  end if;
  if (old.merchant_id, old.environment, old.payment_id, old.amount_minor, old.fee_minor, old.currency, old.reference_id, old.created_at)
    is distinct from
    (new.merchant_id, new.environment, new.payment_id, new.amount_minor, new.fee_minor, new.currency, new.reference_id, new.created_at)
  then
    raise exception 'what a payment was created with cannot change' using errcode = 'GB006';
  end if;
  if new.refunded_minor < old.refunded_minor then
    raise exception 'refunds are not taken back' using errcode = 'GB006';
  end if;
  return new;
end
$$;
