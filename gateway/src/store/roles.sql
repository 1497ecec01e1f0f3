-- The roles and the database of one installation, for psql as a superuser, or as a role that may make roles and databases.
-- It takes two variables, owner_password and service_password, and holds no secret itself. It may be run again: then it sets the passwords
-- and the rights below anew, and leaves everything else as it is.
--
--   gerbang_owner    owns the database and its tables. `gerbang migrate` and restores sign in as it, and nothing that keeps running does.
--   gerbang_app      what the service may do, granted table by table by the migrations. Nobody signs in as it.
--   gerbang_service  signs in for the service. It has gerbang_app, owns nothing, and may make nothing, not even a temporary table.
--
-- None of them is a superuser, may make roles or databases, or replicates.
\set ON_ERROR_STOP on

-- A server that logs statements must not log these.
select 'set log_statement = ''none''; set log_min_duration_statement = -1; set log_min_error_statement = ''panic'''
where (select rolsuper from pg_roles where rolname = current_user) \gexec

select format('create role %I %s', name, kind)
from (values ('gerbang_owner', 'login'), ('gerbang_app', 'nologin'), ('gerbang_service', 'login')) as wanted (name, kind)
where not exists (select from pg_roles where rolname = name) \gexec

alter role gerbang_owner login password :'owner_password';
alter role gerbang_service login password :'service_password';
grant gerbang_app to gerbang_service;

-- Who is no superuser makes a database only for a role that it may become. From PostgreSQL 16 on, whoever made a role is a member of it, and may
-- not become it without this grant.
select 'grant gerbang_owner to current_user'
where not (select rolsuper from pg_roles where rolname = current_user) \gexec

-- Texts in the order of their bytes: an update of the system's languages cannot change it, and no index goes wrong by it.
select 'create database gerbang owner gerbang_owner template template0 encoding ''UTF8'' locale ''C'''
where not exists (select from pg_database where datname = 'gerbang') \gexec

alter database gerbang set timezone to 'UTC';
revoke all on database gerbang from public;
grant connect on database gerbang to gerbang_service;
