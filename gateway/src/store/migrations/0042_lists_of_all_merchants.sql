-- Operators read receipts and exceptions of all merchants by their identity, and in its order. The primary keys begin with the merchant.
create index receipts_of_all on receipts (receipt_id);
-- Few receipts need a decision. The index holds only those that have one.
create index receipts_decided on receipts (receipt_id) where decided_at is not null;
create index reconciliation_exceptions_of_all on reconciliation_exceptions (exception_id);
