#!/usr/bin/env -S node --max-semi-space-size=16 --initial-old-space-size=128
// Starts the program with the Node that the project brings, whatever Node npm itself runs on. Half of the usual room for young objects:
// no slower, and 40 MiB less to hold. And old objects are looked through when there are 128 MiB of them, rather than five times a second.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ownNode } from "./own-node.js";

const heap = ["--max-semi-space-size=16", "--initial-old-space-size=128"];
const service = fileURLToPath(new URL("../src/main.ts", import.meta.url));
// In a checkout the merchants' commands are beside the service, which they do without; an image that runs it has the service alone.
const merchants = fileURLToPath(new URL("../../cli/src/main.ts", import.meta.url));
const main = existsSync(merchants) ? merchants : service;
const OLDEST_NODE = 26;

function giveUp(reason) {
  process.stderr.write(`gerbang needs Node ${OLDEST_NODE}, and this is Node ${process.versions.node}. ${reason}\n`);
  process.exit(1);
}

// Under npx a shell stands between npm and us, and keeps a signal of npm's to itself: when it is gone, we stop.
if (process.env.npm_lifecycle_event === "npx") process.env.GERBANG_PARENT ??= String(process.ppid);

if (Number(process.versions.node.split(".")[0]) >= OLDEST_NODE) {
  process.argv[1] = main;
  await import(pathToFileURL(main).href); // a folder may have % or # in its name
} else {
  const own = ownNode();
  if (own === undefined) {
    const here = `${process.platform} on ${process.arch}`;
    giveUp(
      `The one that belongs to it is not installed: run npm ci, or install Node ${OLDEST_NODE} yourself on ${here}.`,
    );
  }
  const parent = process.env.GERBANG_PARENT;
  const child = spawn(own, [...heap, main, ...process.argv.slice(2)], {
    stdio: "inherit",
    env: { ...process.env, GERBANG_PARENT: String(process.pid) },
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  // Ours looks for this process; whoever started this one may be killed as well.
  const look = () => {
    if (process.ppid === Number(parent)) return;
    clearInterval(looking);
    child.kill("SIGTERM");
  };
  const looking = parent === undefined ? undefined : setInterval(look, 500).unref();
  child.on("error", ({ message }) => giveUp(`The one that belongs to it does not start: ${message}.`));
  child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
