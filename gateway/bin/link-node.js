// Runs after each installation, on whatever Node npm runs on. npm 9 and 10 leave `node` out of node_modules/.bin: they drop the packages of other
// platforms after they linked this one's, and with them the link of the same name. Then every script would run on the Node of the machine.
import { lstatSync, mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { ownNode } from "./own-node.js";

/** Makes the link in a project's folder, where it is missing and there is a Node to link to. */
export function linkNode(root) {
  const own = ownNode(pathToFileURL(join(root, "package.json")));
  const link = join(root, "node_modules", ".bin", "node");
  if (own === undefined || lstatSync(link, { throwIfNoEntry: false })) return;
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(relative(dirname(link), own), link);
}

if (realpathSync(process.argv[1]) === import.meta.filename) linkNode(process.cwd());
