// Checks that the service's role in the database has no more rights than it needs, and that its commits are on disk. Production does not start
// otherwise.
import type { Database } from "./database.ts";

/** A sentence that says which right of the role is too much, or that its commits may be lost; undefined when all is well. */
export async function roleProblem(database: Database): Promise<string | undefined> {
  const [row] = await database.query<Record<"superuser" | "owns" | "creates" | "loses", boolean> & { role: string }>({
    text: `select current_user::text as role, r.rolsuper as superuser,
  exists (
    select from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'public' and c.relkind in ('r', 'p') and pg_has_role(current_user, c.relowner, 'usage')
  ) as owns,
  r.rolcreaterole or r.rolcreatedb or r.rolbypassrls or r.rolreplication as creates,
  current_setting('synchronous_commit') = 'off' as loses
from pg_roles r
where r.rolname = current_user`,
  });
  if (!row) return undefined;
  if (row.loses)
    return `PostgreSQL has synchronous_commit off for the role ${row.role}: a crash would lose acknowledged payments. Turn it on.`;
  const wrong = row.superuser
    ? "is a superuser"
    : row.owns
      ? "owns the tables, so that no trigger and no right binds it"
      : row.creates
        ? "may make roles or databases, or replicate"
        : undefined;
  return wrong === undefined
    ? undefined
    : `DATABASE_URL: the role ${row.role} ${wrong}. Use a role of its own with gerbang_app, and give the owner's address as MIGRATION_DATABASE_URL.`;
}
