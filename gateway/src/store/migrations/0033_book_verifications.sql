-- Replays of books that operators ask for: how far each has come, and what it found.

-- One replay of a book. The process that replays writes about once a second how far it is; one that was not heard of for a while has gone.
create table book_verifications (
  merchant_id uuid not null,
  environment environment not null,
  verification_id uuid not null,
  status text not null check (status in ('running', 'clean', 'wrong', 'stopped', 'interrupted')),
  started_by text not null check (length(started_by) <= 254),
  started_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  stopped_by text check (length(stopped_by) <= 254), -- who asked that it ends
  journals bigint not null default 0 check (journals >= 0),
  journals_in_all bigint not null default 0 check (journals_in_all >= journals),
  journals_ms bigint not null default 0 check (journals_ms >= 0), -- how long the journals took so far
  checks integer not null default 0,
  checks_in_all integer not null default 0 check (checks between 0 and checks_in_all),
  rows_held bigint not null default 0 check (rows_held >= 0),
  wrong text check (length(wrong) <= 2000),
  head_hash bytea check (length(head_hash) = 32),
  primary key (merchant_id, environment, verification_id),
  foreign key (merchant_id, environment) references books,
  constraint book_verifications_ended check ((ended_at is null) = (status = 'running')),
  constraint book_verifications_found check ((wrong is not null) = (status = 'wrong')),
  constraint book_verifications_head check (head_hash is null or status in ('clean', 'wrong'))
);
create unique index book_verifications_running on book_verifications (merchant_id, environment) where status = 'running';

grant select, insert, update, delete on book_verifications to gerbang_app;
