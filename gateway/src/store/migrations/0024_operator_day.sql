-- What operators look for in their own audit.

-- What was asked of one object, refused calls too: by the exact addresses of the calls that change it.
create index operator_audit_path on operator_audit (path, audit_id) where status is null;
