#!/usr/bin/env -S node --max-semi-space-size=16 --initial-old-space-size=96
// Starts the program with the Node that the project brings, whatever Node npm itself runs on. Half of the usual room for young objects:
// no slower, and 40 MiB less to hold. And old objects are looked through when there are 96 MiB of them, rather than five times a second.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const heap = ["--max-semi-space-size=16", "--initial-old-space-size=96"];
const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));

if (Number(process.versions.node.split(".")[0]) >= 24) {
  process.argv[1] = main;
  await import(main);
} else {
  const own = join(dirname(createRequire(import.meta.url).resolve("node/package.json")), "bin", "node");
  const child = spawn(own, [...heap, main, ...process.argv.slice(2)], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
}
