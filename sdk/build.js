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

/**
 * Takes out the whitespace, a twentieth of the weight compressed. Names stay as they are, for those who look into it. A function begins a line, which
 * stands for the semicolon before it: Node prints an error that nobody catches below the line that made it, and files of one line hid it.
 */
function shorten(name, { minifySync, parseSync }) {
  const file = join(into, name);
  const { code, errors } = minifySync(name, readFileSync(file, "utf8"), {
    compress: false,
    mangle: false,
    codegen: { removeWhitespace: true },
  });
  if (errors.length > 0) throw new Error(`${name}: ${errors[0].message}`);
  const functions = parseSync(name, code).program.body.filter(({ type }) => type === "FunctionDeclaration");
  const starts = [0, ...functions.map(({ start }) => start)];
  writeFileSync(file, starts.map((start, index) => code.slice(start, starts[index + 1]).replace(/;$/, "")).join("\n"));
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
  const tools = await import("rolldown/utils");
  for (const name of readdirSync(into).filter((file) => file.endsWith(".js"))) shorten(name, tools);
}
