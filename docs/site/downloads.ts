// What developers take from the documentation as files: the clients of one file, the test vectors, the examples and the packages. Pure.

/** Folders of the source tree in which published files are. */
export const downloadFolders = ["clients", "examples", "sdk/vectors"] as const;

const published = [
  /^clients\/python\/(?:gerbang|examples\/\w+)\.py$/,
  /^clients\/php\/Gerbang\.php$/,
  /^sdk\/vectors\/[\w-]+\.json$/,
  /^examples\/samples\.json$/,
];
/** A file of an example. What a run of it leaves there is not published: installed packages, databases, hidden files. */
const ofExample = /^examples\/(?:receivers|shops)\/[a-z]+\/(?:\w+\/)*\w+\.(?:js|json|php|py|txt)$/;
const leftBehind = /\/(?:node_modules|vendor|__pycache__)\//;

/** The address of a file of the source tree, by its path from the root; undefined for files that are not published. */
export function downloadOf(path: string): string | undefined {
  const isPublished =
    published.some((pattern) => pattern.test(path)) || (ofExample.test(path) && !leftBehind.test(path));
  return isPublished ? `/docs/files/${path}` : undefined;
}

/** The packages that a build makes, by their names below /docs/files. */
export const packages = {
  "gerbang-sdk.tgz": "the client library for TypeScript and JavaScript",
  "gerbang-cli.tgz": "the command line for merchants",
} as const;
