// Atomic writes of files: the text is written to a draft, flushed, and renamed into place, so a file stays whole whenever the process dies.
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Replaces a file by one with `text`, readable by its owner alone. After a crash the file is the old or the new one, never a part. */
export function writeWhole(file: string, text: string): void {
  const draft = `${file}.${process.pid}`;
  rmSync(draft, { force: true }); // a draft left by a killed process may have other permissions
  const handle = openSync(draft, "wx", 0o600);
  try {
    writeFileSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(draft, file);
  const directory = openSync(dirname(file), "r");
  try {
    fsyncSync(directory); // writes the rename to the disk too
  } finally {
    closeSync(directory);
  }
}
