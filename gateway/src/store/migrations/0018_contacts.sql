-- How often a customer came is asked by each contact that was given.

-- The telephone of a payment that has an e-mail address as well; where it has no address, customer_key stands for the telephone.
-- What was created before has none: it is an hour until all that is counted has one.
alter table payments add column phone_key bytea check (length(phone_key) = 16);

-- As payments_customer. Only payments with both contacts are in it, so a payment with one contact costs what it did.
create index payments_phone on payments (merchant_id, environment, phone_key, payment_id) where phone_key is not null;
