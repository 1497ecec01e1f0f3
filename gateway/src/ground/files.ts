// Files that are whole whenever the process dies: written aside, flushed, and moved into place.
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Puts `text` in the place of the file, readable by its owner alone. Afterwards the file is the old or the new one, never a part. */
export function writeWhole(file: string, text: string): void {
  const draft = `${file}.${process.pid}`;
  rmSync(draft, { force: true }); // one that a kill left may have other rights
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
    fsyncSync(directory); // the new name too is on the disk
  } finally {
    closeSync(directory);
  }
}
