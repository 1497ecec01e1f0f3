// Writes `dist/`, or the folder that is named: the client as JavaScript and its types. Runs on whatever Node npm runs on, after each installation
// and before packing.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const here = import.meta.dirname ?? dirname(new URL(import.meta.url).pathname);
const into = process.argv[2] ?? join(here, "dist");

function compiler() {
  try {
    return join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
  } catch {
    return undefined; // installed without development tools
  }
}

/** Nobody reads the indentation of what is published, and it is a twentieth of its weight compressed. No text of the client spans lines. */
function unindent(name) {
  const file = join(into, name);
  const lines = readFileSync(file, "utf8").split("\n");
  if (lines.some((line) => line.split("`").length % 2 === 0)) throw new Error(`${name} has a text of several lines`);
  writeFileSync(file, lines.map((line) => line.trimStart()).join("\n"));
}

const tsc = compiler();
if (tsc === undefined) {
  process.stderr.write(
    "sdk: not built, since TypeScript is not installed. npm ci with development dependencies builds it.\n",
  );
} else if (existsSync(join(here, "src"))) {
  rmSync(into, { recursive: true, force: true });
  // The types keep their comments, for editors; the code does without.
  for (const what of [["--emitDeclarationOnly"], ["--declaration", "false", "--removeComments"]]) {
    const { status } = spawnSync(process.execPath, [tsc, "-p", here, "--outDir", into, ...what], { stdio: "inherit" });
    if (status !== 0) process.exitCode = 1;
  }
  for (const name of readdirSync(into).filter((file) => file.endsWith(".js"))) unindent(name);
}
