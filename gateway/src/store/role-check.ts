// Checks that the service's role in the database has no right too many, and that its commits last. Production does not start otherwise.
import type { Database } from "./database.ts";

/** A sentence that says which right of the role is too much, or that its commits may be lost; undefined when all is well. */
export async function roleProblem(database: Database): Promise<string | undefined> {
  const [row] = await database.query<{ role: string; loses: boolean; wrong: string | null }>({
    text: `select current_user::text as role, current_setting('synchronous_commit') = 'off' as loses, case
  when r.rolsuper then 'is a superuser'
  when exists (
    select from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'public' and c.relkind in ('r', 'p') and pg_has_role(current_user, c.relowner, 'usage')
  ) then 'owns the tables, so that no trigger and no right binds it'
  when r.rolcreaterole or r.rolcreatedb or r.rolbypassrls or r.rolreplication then 'may make roles or databases, or replicate'
end as wrong
from pg_roles r
where r.rolname = current_user`,
  });
  if (row?.loses === true)
    return `PostgreSQL has synchronous_commit off for the role ${row.role}: a crash would lose acknowledged payments. Turn it on.`;
  if (typeof row?.wrong !== "string") return undefined;
  return `DATABASE_URL: the role ${row.role} ${row.wrong}. Use a role of its own with gerbang_app, and give the owner's address as MIGRATION_DATABASE_URL.`;
}
