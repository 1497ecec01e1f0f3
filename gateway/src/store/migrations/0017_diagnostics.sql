-- Diagnostics: why requests were refused.

-- Why the signature of a sandbox request was refused. The request itself is not kept.
create table refused_requests (
  merchant_id uuid not null,
  request_id uuid not null,
  diagnosis text not null check (diagnosis ~ '^[a-z0-9_]{1,40}$'),
  refused_at timestamptz not null,
  -- Of a request signed by RFC 9421: what the diagnosis is about, and the text that should have been signed.
  subject text check (length(subject) <= 100),
  signature_base text check (length(signature_base) <= 4000),
  primary key (merchant_id, request_id)
);

grant select, insert, delete on refused_requests to gerbang_app;
