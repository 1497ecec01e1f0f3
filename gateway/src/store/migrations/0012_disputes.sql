-- Disputes: money that is held while a payer contests a payment, and the merchant's evidence. The type of a dispute's status stands
-- with payments, which hold the status of their newest dispute.

-- A payer's contest of a payment. While it runs, the contested amount is held.
create table disputes (
  merchant_id uuid not null,
  environment environment not null,
  dispute_id uuid not null,
  payment_id uuid not null,
  status dispute_status not null,
  reason text not null check (reason in
    ('product_not_received', 'product_unacceptable', 'fraudulent', 'duplicate', 'credit_not_processed', 'general')),
  amount_minor bigint not null check (amount_minor between 1 and 9007199254740991),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  evidence_due_at timestamptz not null,
  opened_at timestamptz not null,
  resolved_at timestamptz,
  settlement_id uuid, -- the batch a lost dispute is in; null while it waits for one
  primary key (merchant_id, environment, dispute_id),
  foreign key (merchant_id, environment, payment_id) references payments,
  constraint disputes_resolved_at_with_status check ((resolved_at is null) = (status in ('needs_response', 'under_review')))
);
create index disputes_of_payment on disputes (merchant_id, environment, payment_id);
-- One running dispute a payment.
create unique index disputes_running on disputes (merchant_id, environment, payment_id)
where status in ('needs_response', 'under_review');
-- What the expiry of disputes asks, book by book.
create index disputes_unanswered on disputes (merchant_id, environment, evidence_due_at) where status = 'needs_response';
-- What waits for a settlement, by currency, oldest first.
create index disputes_unsettled on disputes (merchant_id, environment, currency, resolved_at)
where status = 'lost' and settlement_id is null;
-- What waits for a person, for the operator's queue. The index holds only these.
create index disputes_under_review on disputes (dispute_id) where status = 'under_review';

-- What a dispute may become.
create function check_dispute_change() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if old.status <> new.status and (old.status::text || ' > ' || new.status::text) not in (
    'needs_response > under_review', 'needs_response > won', 'needs_response > lost', 'needs_response > withdrawn',
    'under_review > won', 'under_review > lost', 'under_review > withdrawn'
  ) then
    raise exception 'a dispute cannot go from % to %', old.status, new.status using errcode = 'GB006';
  end if;
  if (old.dispute_id, old.payment_id, old.amount_minor, old.currency, old.opened_at, old.reason)
    is distinct from (new.dispute_id, new.payment_id, new.amount_minor, new.currency, new.opened_at, new.reason) then
    raise exception 'what a dispute was opened with cannot change' using errcode = 'GB006';
  end if;
  return new;
end
$$;
create trigger disputes_change before update on disputes
for each row execute function check_dispute_change();

-- A dispute stands as the ledger says: at commit its payment has a journal for each dispute that was opened, and for each that ended as
-- this one did; and the payment, in its currency, notes what lost disputes took and whether a dispute runs, so that nothing is refunded as well.
-- A running one holds no more than is left of the payment.
create function check_dispute_posted() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  journal text := case when new.status in ('needs_response', 'under_review') then 'opened' else new.status::text end;
  payment record;
  taken record;
begin
  if (
    select count(*)
    from journals j
    where j.merchant_id = new.merchant_id and j.environment = new.environment and j.group_id = new.payment_id
      and j.kind = 'dispute_' || journal
  ) <> (
    select count(*)
    from disputes d
    where d.merchant_id = new.merchant_id and d.environment = new.environment and d.payment_id = new.payment_id
      and (journal = 'opened' or d.status = new.status)
  ) then
    raise exception 'dispute % is % without a journal', new.dispute_id, new.status using errcode = 'GB007';
  end if;
  select p.currency, p.lost_minor, coalesce(p.dispute_status in ('needs_response', 'under_review'), false) as runs,
    p.amount_minor - p.refunded_minor - p.refund_pending_minor - p.lost_minor as left_minor
  into payment
  from payments p
  where p.merchant_id = new.merchant_id and p.environment = new.environment and p.payment_id = new.payment_id;
  select coalesce(sum(d.amount_minor) filter (where d.status = 'lost'), 0) as lost_minor,
    bool_or(d.status in ('needs_response', 'under_review')) as runs,
    sum(d.amount_minor) filter (where d.status in ('needs_response', 'under_review')) as held_minor
  into taken
  from disputes d
  where d.merchant_id = new.merchant_id and d.environment = new.environment and d.payment_id = new.payment_id;
  if (payment.currency, payment.lost_minor, payment.runs) <> (new.currency, taken.lost_minor, taken.runs) then
    raise exception 'payment % does not note what its disputes took, or that one runs', new.payment_id using errcode = 'GB007';
  end if;
  if taken.held_minor > payment.left_minor then
    raise exception 'dispute % holds more than is left of its payment', new.dispute_id using errcode = 'GB007';
  end if;
  return null;
end
$$;
create constraint trigger disputes_posted after insert or update of status on disputes deferrable initially deferred
for each row execute function check_dispute_posted();

-- The same where the payment alone changes: what it notes of its disputes decides about refunds and settlements.
create function check_dispute_noted() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if exists (
    select from payments p
    where p.merchant_id = new.merchant_id and p.environment = new.environment and p.payment_id = new.payment_id
      and coalesce(p.dispute_status in ('needs_response', 'under_review'), false) <> exists (
        select from disputes d
        where d.merchant_id = p.merchant_id and d.environment = p.environment and d.payment_id = p.payment_id
          and d.status in ('needs_response', 'under_review')
      )
  ) then
    raise exception 'payment % does not note whether a dispute runs', new.payment_id using errcode = 'GB007';
  end if;
  return null;
end
$$;
create constraint trigger payments_dispute_noted after update of dispute_status on payments deferrable initially deferred
for each row when (old.dispute_status is distinct from new.dispute_status)
execute function check_dispute_noted();

-- What the merchant said to a dispute: once, and kept as it was.
create table dispute_evidence (
  merchant_id uuid not null,
  environment environment not null,
  dispute_id uuid not null,
  statement text not null check (length(statement) between 1 and 20000),
  files json not null check (length(files::text) <= 262144), -- each is either inside, or names one that is kept here
  -- How something was delivered, where that was asked.
  carrier text check (length(carrier) between 1 and 120),
  tracking_number text check (length(tracking_number) between 1 and 120),
  delivered_on date,
  submitted_at timestamptz not null,
  primary key (merchant_id, environment, dispute_id),
  foreign key (merchant_id, environment, dispute_id) references disputes
);
create trigger dispute_evidence_kept before update or delete or truncate on dispute_evidence
for each statement execute function refuse_change();

-- What a merchant has written so far. Nobody else reads it.
create table evidence_drafts (
  merchant_id uuid not null,
  environment environment not null,
  dispute_id uuid not null,
  statement text not null check (length(statement) <= 20000),
  carrier text check (length(carrier) between 1 and 120),
  tracking_number text check (length(tracking_number) between 1 and 120),
  delivered_on date,
  saved_at timestamptz not null,
  primary key (merchant_id, environment, dispute_id),
  foreign key (merchant_id, environment, dispute_id) references disputes
);

-- The files of a dispute: ten at a time, by their slots. Nobody sees one before it is kept: whole, and judged by its content. One that was
-- removed, or never became whole, is forgotten with its pieces.
create table evidence_files (
  merchant_id uuid not null,
  environment environment not null,
  dispute_id uuid not null,
  file_id uuid not null,
  slot smallint not null check (slot between 1 and 10),
  state text not null check (state in ('arriving', 'kept', 'removed')),
  name text not null check (length(name) between 1 and 200), -- as its maker calls it
  size_bytes integer not null check (size_bytes between 1 and 10485760), -- as announced; a kept file has exactly so many
  media_type text check (media_type in ('application/pdf', 'image/png', 'image/jpeg')), -- what it was found to be
  sha256 bytea check (length(sha256) = 32),
  kept_at timestamptz,
  arriving_since timestamptz not null default now(), -- by this clock an upload is over that nobody finishes
  primary key (merchant_id, environment, dispute_id, file_id),
  foreign key (merchant_id, environment, dispute_id) references disputes,
  constraint evidence_files_kept_is_judged
    check (state <> 'kept' or (media_type is not null and sha256 is not null and kept_at is not null)),
  constraint evidence_files_arriving_is_not check (state <> 'arriving' or kept_at is null)
);
create unique index evidence_files_slot on evidence_files (merchant_id, environment, dispute_id, slot)
where state <> 'removed';
-- What the sweep of unfinished and removed files asks.
create index evidence_files_over on evidence_files (arriving_since) where state <> 'kept';
-- How much a merchant's sandbox has taken within a day.
create index evidence_files_of_sandbox on evidence_files (merchant_id, arriving_since) where environment = 'sandbox';

-- The bytes of a file, in pieces of 256 KiB but for the last.
create table evidence_pieces (
  merchant_id uuid not null,
  environment environment not null,
  dispute_id uuid not null,
  file_id uuid not null,
  piece smallint not null check (piece between 0 and 39),
  bytes bytea not null check (length(bytes) between 1 and 262144),
  primary key (merchant_id, environment, dispute_id, file_id, piece),
  foreign key (merchant_id, environment, dispute_id, file_id) references evidence_files
);
-- PDFs and pictures are compressed as they are.
alter table evidence_pieces alter column bytes set storage external;

-- Files come and go only while the dispute waits for evidence; what is handed in stays as it is. All files of a dispute, arriving ones too,
-- have 50 MiB at most. The dispute is locked, so that nothing changes beside its being handed in.
create function check_evidence_file_change() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  dispute disputes;
  pieces bigint;
  bytes bigint;
begin
  select * into dispute
  from disputes d
  where d.merchant_id = new.merchant_id and d.environment = new.environment and d.dispute_id = new.dispute_id
  for no key update;
  if tg_op = 'INSERT' then
    if new.state <> 'arriving' then
      raise exception 'a file begins by arriving' using errcode = 'GB012';
    end if;
  else
    if (old.state || ' > ' || new.state) not in ('arriving > kept', 'arriving > removed', 'kept > removed') then
      raise exception 'a file cannot go from % to %', old.state, new.state using errcode = 'GB012';
    end if;
    if (old.file_id, old.slot, old.name, old.size_bytes, old.arriving_since)
      is distinct from (new.file_id, new.slot, new.name, new.size_bytes, new.arriving_since) then
      raise exception 'what a file was announced as cannot change' using errcode = 'GB012';
    end if;
  end if;
  if dispute.status <> 'needs_response' and (tg_op = 'INSERT' or old.state = 'kept' or new.state = 'kept') then
    raise exception 'dispute % does not wait for evidence', new.dispute_id using errcode = 'GB012';
  end if;
  if new.state = 'kept' then
    select count(*), sum(length(p.bytes)) into pieces, bytes
    from evidence_pieces p
    where p.merchant_id = new.merchant_id and p.environment = new.environment and p.dispute_id = new.dispute_id
      and p.file_id = new.file_id;
    if bytes is distinct from new.size_bytes or pieces <> (new.size_bytes + 262143) / 262144 then
      raise exception 'file % is not whole', new.file_id using errcode = 'GB012';
    end if;
  end if;
  if tg_op = 'INSERT' and (
    select sum(f.size_bytes)
    from evidence_files f
    where f.merchant_id = new.merchant_id and f.environment = new.environment and f.dispute_id = new.dispute_id
      and f.state <> 'removed'
  ) > 52428800 then
    raise exception 'the files of dispute % are too large together', new.dispute_id using errcode = 'GB012';
  end if;
  return null;
end
$$;
create trigger evidence_files_change after insert or update on evidence_files
for each row execute function check_evidence_file_change();

-- A file that is kept is not forgotten.
create function check_evidence_file_forgotten() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if old.state = 'kept' then
    raise exception 'a file that is kept is not forgotten' using errcode = 'GB012';
  end if;
  return old;
end
$$;
create trigger evidence_files_forgotten before delete on evidence_files
for each row execute function check_evidence_file_forgotten();

-- Pieces arrive while their file does, each as long as its place says, and are gone only when their file is none.
create function check_evidence_piece() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  piece evidence_pieces := case when tg_op = 'DELETE' then old else new end;
  file evidence_files;
begin
  select * into file
  from evidence_files f
  where f.merchant_id = piece.merchant_id and f.environment = piece.environment and f.dispute_id = piece.dispute_id
    and f.file_id = piece.file_id
  for share;
  if tg_op = 'DELETE' then
    if file.state = 'kept' then
      raise exception 'the pieces of a kept file stay' using errcode = 'GB012';
    end if;
    return old;
  end if;
  if tg_op = 'UPDATE' or file.state is distinct from 'arriving'
    or length(piece.bytes) <> least(262144, file.size_bytes - piece.piece * 262144) then
    raise exception 'file % takes no such piece', piece.file_id using errcode = 'GB012';
  end if;
  return new;
end
$$;
create trigger evidence_pieces_change before insert or update or delete on evidence_pieces
for each row execute function check_evidence_piece();
create trigger evidence_pieces_not_truncated before truncate on evidence_pieces
for each statement execute function refuse_change();
create trigger evidence_files_not_truncated before truncate on evidence_files
for each statement execute function refuse_change();

-- Evidence is handed in before it is due, and with files that are there; by the end of the transaction its dispute no longer waits for it.
create function check_evidence_in_time() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if not exists (
    select
    from disputes d
    where d.merchant_id = new.merchant_id and d.environment = new.environment and d.dispute_id = new.dispute_id
      and new.submitted_at < d.evidence_due_at and d.status <> 'needs_response'
  ) then
    raise exception 'evidence of dispute % comes too late, or moves it nowhere', new.dispute_id using errcode = 'GB012';
  end if;
  if exists (
    select
    from json_array_elements(new.files) given
    left join evidence_files f on f.merchant_id = new.merchant_id and f.environment = new.environment
      and f.dispute_id = new.dispute_id and f.file_id = (given ->> 'file_id')::uuid and f.state = 'kept'
    where given ->> 'file_id' is not null and f.file_id is null
  ) then
    raise exception 'evidence of dispute % names a file that is not kept', new.dispute_id using errcode = 'GB012';
  end if;
  return null;
end
$$;
create constraint trigger dispute_evidence_in_time after insert on dispute_evidence deferrable initially deferred
for each row execute function check_evidence_in_time();

grant select, insert on disputes, dispute_evidence to gerbang_app;
grant update (status, evidence_due_at, resolved_at, settlement_id) on disputes to gerbang_app;
grant select, insert on evidence_drafts, evidence_files, evidence_pieces to gerbang_app;
grant update (statement, carrier, tracking_number, delivered_on, saved_at) on evidence_drafts to gerbang_app;
grant update (state, media_type, sha256, kept_at) on evidence_files to gerbang_app;
grant delete on evidence_files, evidence_pieces to gerbang_app;
