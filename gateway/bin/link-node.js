// Runs after each installation, on whatever Node npm runs on. npm 9 and 10 leave `node` out of node_modules/.bin: they drop the packages of other
// platforms after they linked this one's, and with them the link of the same name. Then every script would run on the Node of the machine.
// A Node that does not start here is told now, with what to do: the next script would fail without a word of that.
import { spawnSync } from "node:child_process";
import { lstatSync, mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { ownNode } from "./own-node.js";

/** Makes the link in a project's folder, where it is missing. */
function link(root, own) {
  const path = join(root, "node_modules", ".bin", "node");
  if (lstatSync(path, { throwIfNoEntry: false })) return;
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(relative(dirname(path), own), path);
}

/** Why the Node does not start on this machine, and what to do; undefined when it starts. */
function complaintOf(own) {
  const { status, error, stderr } = spawnSync(own, ["--version"], { encoding: "utf8" });
  if (status === 0) return undefined;
  const said = error?.message ?? stderr.trim();
  const advice = said.includes("libatomic")
    ? "Install libatomic (Debian, Ubuntu: apt-get install libatomic1; Fedora, Red Hat: dnf install libatomic), then run npm ci again."
    : "It needs macOS, or a Linux with glibc 2.28 or later; Alpine has another C library.";
  return `The Node that comes with Gerbang does not start on this machine: ${said}\n${advice}\n`;
}

if (realpathSync(process.argv[1]) === import.meta.filename) {
  const own = ownNode(pathToFileURL(join(process.cwd(), "package.json")));
  if (own !== undefined) {
    link(process.cwd(), own);
    const complaint = complaintOf(own);
    if (complaint !== undefined) {
      process.stderr.write(complaint);
      process.exitCode = 1;
    }
  }
}
