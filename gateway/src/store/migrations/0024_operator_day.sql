-- What operators look for: in their own audit, and among what waits for a person.

-- What was asked of one object, refused calls too: by the exact addresses of the calls that change it.
create index operator_audit_path on operator_audit (path, audit_id) where status is null;

-- What waits for a person, for the operator's queue. Each index holds only these.
create index disputes_under_review on disputes (dispute_id) where status = 'under_review';
create index settlements_returned on settlements (merchant_id, environment, returned_at) where status = 'failed';
create index deliveries_given_up on deliveries (merchant_id, environment, next_attempt_at) where state = 'undelivered';
