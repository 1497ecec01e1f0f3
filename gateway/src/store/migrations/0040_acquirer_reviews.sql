-- An acquirer's fraud detection may want a person to say whether it takes the money of a payment: an operator judges, and a worker tells it.
alter table acquirer_operations
  add column review text check (review in ('asked', 'approve', 'refuse')),
  add constraint acquirer_operations_review_of_payment check (review is null or kind = 'payment');
-- What waits for an operator. The index holds only these.
create index acquirer_operations_review on acquirer_operations (operation_id) where review = 'asked';
grant update (review) on acquirer_operations to gerbang_app;

alter table acquirer_messages
  drop constraint acquirer_messages_call_check,
  add constraint acquirer_messages_call_check
    check (call in ('open', 'inquire', 'cancel', 'judge', 'refund', 'inquire_refund', 'submit_evidence', 'report'));
