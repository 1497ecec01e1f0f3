-- What every room stands on: environments, the role of the service, and what tells processes of changed settings and of health.

create type environment as enum ('sandbox', 'production');

-- The role the service runs as. It owns nothing, and what it may do is granted table by table.
do $$
begin
  if not exists (select from pg_roles where rolname = 'gerbang_app') then
    create role gerbang_app nologin;
  end if;
exception when duplicate_object or unique_violation then null; -- another database of this server made it at the same moment
end
$$;

-- Nobody but an owner makes tables here, not even temporary ones: the service needs none, and a session reads its temporary tables
-- before ours when a statement names a table without its schema. `create database … template …` does not copy this: revoke it there
-- again.
do $$
begin
  execute format('revoke temporary on database %I from public, gerbang_app', current_database());
end
$$;
revoke create on schema public from public, gerbang_app;

-- The service reads which migrations were applied. The table is made by the program that applies them.
grant select on schema_migrations to gerbang_app;

-- One number that grows with every change of settings. The row lock makes commit order and epoch order the same, so a
-- process that has seen epoch n has seen every change up to n.
create table settings_epoch (
  only_row boolean primary key default true check (only_row),
  epoch bigint not null
);
insert into settings_epoch (epoch) values (0);

-- One row that is written to find out whether anything can be.
create table health_probe (
  only_row boolean primary key default true check (only_row),
  probed_at timestamptz not null
);
insert into health_probe (probed_at) values (clock_timestamp());

grant select, update on settings_epoch, health_probe to gerbang_app;
