-- Which processes take requests. One that does so alone may remember by itself which signatures were used; as soon as there is
-- another, both remember them here in the database.
create table api_processes (
  process_id uuid primary key,
  -- By the database's own clock: whoever has not said so lately is gone.
  alive_until timestamptz not null,
  alone boolean not null
);
-- Two that think themselves alone would each take the same signature once.
create unique index api_processes_alone on api_processes (alone) where alone;

grant select, insert, update, delete on api_processes to gerbang_app;
