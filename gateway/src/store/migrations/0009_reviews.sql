-- Payments that wait for a person's judgement. Until then expires_at is the time limit of the review; expires_in is what the
-- merchant asked for, counted from the approval.
alter table payments add column expires_in integer check (expires_in between 60 and 86400);

-- What waits, for the operator's queue. It is empty but for these.
create index payments_under_review on payments (payment_id) where risk_decision = 'review' and status = 'pending';
