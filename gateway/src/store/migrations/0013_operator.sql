-- What operators did.

-- A call that changes something leaves two rows: one written before anything is changed (status null, with what was asked), one
-- before the answer is sent (with its status). A call without the second was cut short, or its outcome could not be recorded: a
-- reader of the audit sees that something was asked and must look at the object itself.
-- The first row of a call carries the request's own identity, so a call is asked once; the second refers to it.
create table operator_audit (
  audit_id uuid primary key,
  at timestamptz not null,
  role text not null check (role in ('viewer', 'admin')),
  method text not null check (method in ('POST', 'PUT', 'PATCH', 'DELETE')),
  path text not null check (length(path) between 1 and 512),
  merchant_id uuid,
  request_id uuid not null references operator_audit,
  body json check (octet_length(body::text) <= 16384),
  status smallint check (status between 200 and 599),
  constraint operator_audit_first_row check ((status is null) = (audit_id = request_id)),
  constraint operator_audit_body_in_first_row check (status is null or body is null)
);
-- A call is answered once.
create unique index operator_audit_answers on operator_audit (request_id) where status is not null;
-- What was done to one merchant.
create index operator_audit_merchant on operator_audit (merchant_id, request_id) where merchant_id is not null;

create trigger operator_audit_append_only before update or delete or truncate on operator_audit
for each statement execute function refuse_change();

grant select, insert on operator_audit to gerbang_app;
