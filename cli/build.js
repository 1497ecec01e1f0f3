// Writes `dist/`, or the folder that is named: the commands, the client library and the parser as JavaScript that Node 20 runs by itself. Runs before packing.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const into = process.argv[2] ?? join(here, "dist");
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
rmSync(into, { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [tsc, "-p", here, "--outDir", into], { stdio: "inherit" });
if (status !== 0) process.exit(status ?? 1);

// The examples and the clients of one file, where `samples` looks for them.
if (existsSync(join(here, "../examples"))) {
  for (const part of [
    "examples/samples.json",
    "examples/shops",
    "clients/python/gerbang.py",
    "clients/php/Gerbang.php",
  ])
    cpSync(join(here, "..", part), join(into, part), { recursive: true });
}

// What is published is that folder: here, a second `gerbang` beside the service's would take its place.
const { private: _, scripts: __, ...manifest } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
const published = {
  ...manifest,
  bin: { gerbang: "cli/src/main.js" },
  files: ["cli", "clients", "examples", "gateway", "sdk"],
};
writeFileSync(join(into, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
