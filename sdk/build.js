// Writes `dist/`: the client as JavaScript and its types. Runs on whatever Node npm runs on, after each installation and before packing.
import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const here = import.meta.dirname ?? dirname(new URL(import.meta.url).pathname);

function compiler() {
  try {
    return join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
  } catch {
    return undefined; // installed without development tools
  }
}

const tsc = compiler();
if (tsc === undefined) {
  process.stderr.write(
    "sdk: not built, since TypeScript is not installed. npm ci with development dependencies builds it.\n",
  );
} else if (existsSync(join(here, "src"))) {
  rmSync(join(here, "dist"), { recursive: true, force: true });
  // The types keep their comments, for editors; the code does without.
  for (const what of [["--emitDeclarationOnly"], ["--declaration", "false", "--removeComments"]]) {
    const { status } = spawnSync(process.execPath, [tsc, "-p", here, ...what], { stdio: "inherit" });
    if (status !== 0) process.exitCode = 1;
  }
}
