// The parts of psql that `gerbang roles --sql` uses, its variables and \gexec, for tests on machines without psql.
import pg from "pg";

/** Runs a script. Throws at the first error, like psql with ON_ERROR_STOP. */
export async function psql(url: string, script: string, variables: Record<string, string> = {}): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const text = script
      .replaceAll(/^(--.*|\\set ON_ERROR_STOP on)$/gm, "")
      .replaceAll(/:'(\w+)'/g, (whole, name: string) => {
        const value = variables[name];
        return value === undefined ? whole : pg.escapeLiteral(value);
      });
    for (const [, statement = "", end] of text.matchAll(/([^]+?)(;$| \\gexec$)/gm)) {
      if (statement.trim() === "") continue;
      const { rows } = await client.query<unknown[]>({ text: statement, rowMode: "array" });
      if (end === ";") continue;
      for (const made of rows.flat()) await client.query(String(made));
    }
  } finally {
    await client.end();
  }
}
