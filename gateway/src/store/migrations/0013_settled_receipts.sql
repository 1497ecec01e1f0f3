-- Money that an operator credited to a merchant is paid out like a payment's, without a fee.

alter table settlement_items drop constraint settlement_items_kind_check;
alter table settlement_items add constraint settlement_items_kind_check check (kind in ('payment', 'receipt', 'refund', 'dispute'));

create or replace function check_settlement_sums() returns trigger language plpgsql as $$
begin
  if exists (
    select from settlement_items i
    where i.merchant_id = new.merchant_id and i.environment = new.environment and i.settlement_id = new.settlement_id
    having coalesce(sum(amount_minor) filter (where kind in ('payment', 'receipt')), 0) <> new.gross_minor
      or coalesce(sum(fee_minor), 0) <> new.fee_minor
      or coalesce(sum(amount_minor) filter (where kind in ('refund', 'dispute')), 0) <> new.refund_minor
      or count(*) filter (where kind = 'payment') <> new.payment_count
  ) then
    raise exception 'settlement % is not the sum of its items', new.settlement_id using errcode = 'GB010';
  end if;
  return null;
end
$$;

alter table receipts add column settlement_id uuid;
create index receipts_unsettled on receipts (merchant_id, environment, decided_at)
where status = 'credited' and settlement_id is null;
grant update (settlement_id) on receipts to gerbang_app;

-- Being settled changes nothing of what was decided.
drop trigger receipts_change on receipts;
create trigger receipts_change before update of status, decided_at on receipts
for each row execute function check_receipt_change();
drop trigger receipts_posted on receipts;
create constraint trigger receipts_posted after insert or update of status on receipts deferrable initially deferred
for each row execute function check_receipt_posted();
