// What developers take from the documentation as files: the clients of one file, the test vectors and the examples. Pure.

const published =
  /^(?:clients\/python\/(?:gerbang|examples\/\w+)\.py|clients\/php\/(?:Gerbang|examples\/\w+)\.php|sdk\/vectors\/[\w-]+\.json|examples\/samples\.json)$/;

/** The address of a file of the source tree, by its path from the root; undefined for files that are not published. */
export function downloadOf(path: string): string | undefined {
  return published.test(path) ? `/docs/files/${path}` : undefined;
}

/** The published files of the source tree, in folders that hold them. */
export const downloadFolders = [
  "clients/python",
  "clients/python/examples",
  "clients/php",
  "clients/php/examples",
  "sdk/vectors",
  "examples",
] as const;
