// Folders that belong to this program alone: made exclusively, and refused where another user of the machine could have prepared them.
import {
  type Stats,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, parse, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ConfigError } from "./config.ts";

export interface User {
  uid: number;
  gid: number;
}

const WRITABLE_BY_OTHERS = 0o022;
const WRITABLE_BY_ALL = 0o002;
const STICKY = 0o1000;

/**
 * Makes a folder with its parents where it is missing, for its owner to write in and for others to pass through. Throws `ConfigError` when one
 * that exists, or a folder above it, can be changed by anybody but root, the user of this process and the owner of the program's own files.
 */
export function ownFolder(path: string): void {
  const folder = resolve(path);
  if (existsSync(folder)) refuseWritable(folder, statSync(folder));
  else {
    // What is there already is judged before anything is put into it.
    refuseForeignPath(nearestExisting(folder));
    mkdirSync(folder, { recursive: true, mode: 0o711 });
  }
  refuseForeignPath(folder);
}

/**
 * Makes a folder that only its owner can look into, or takes one over that nobody but root, this process or that owner can have made. Its parent
 * must exist. Throws `ConfigError` for a symbolic link, for what is no folder, for a foreign owner and for one that others can write in.
 */
export function ownPrivateFolder(path: string, owner?: User): void {
  const folder = resolve(path);
  refuseForeignPath(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  refuseUnlessOwned(folder, owner);
  if (!owner) return;
  // By its handle: whatever may stand at the path by now, this is the folder that was looked at.
  const handle = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    refuseUnlessIts(folder, fstatSync(handle), [owner.uid]);
    fchownSync(handle, owner.uid, owner.gid);
  } finally {
    closeSync(handle);
  }
}

/** Throws `ConfigError` unless the path is a real folder of root, of this process's user or of `owner`, in which nobody else can write. */
export function refuseUnlessOwned(folder: string, owner?: User): void {
  const found = lstatSync(folder);
  if (found.isSymbolicLink())
    throw new ConfigError(
      `${folder} is a symbolic link: the files of the database need a real folder. Remove the link.`,
    );
  if (!found.isDirectory()) throw new ConfigError(`${folder} is no folder: remove it.`);
  refuseUnlessIts(folder, found, owner ? [owner.uid] : []);
}

/** Writes a file that must not exist yet, for its owner alone. Follows no link that somebody may have put there. */
export function writePrivateFile(file: string, text: string, owner?: User): void {
  const handle = openSync(file, "wx", 0o600);
  try {
    writeSync(handle, text);
    fchmodSync(handle, 0o600);
    if (owner) fchownSync(handle, owner.uid, owner.gid);
  } finally {
    closeSync(handle);
  }
}

function refuseUnlessIts(folder: string, found: Stats, alsoTrusted: readonly number[]): void {
  const uid = process.getuid?.();
  if (uid === undefined) return; // a system without such owners
  if (![0, uid, ...alsoTrusted].includes(found.uid))
    throw new ConfigError(
      `${folder} belongs to another user of this machine (uid ${found.uid}), who could read or change what is put there. Remove it, or name another folder in GERBANG_DATA.`,
    );
  refuseWritable(folder, found);
}

function refuseWritable(folder: string, { mode }: Stats): void {
  if (process.getuid === undefined || (mode & WRITABLE_BY_OTHERS) === 0) return;
  throw new ConfigError(
    `${folder} can be written by other users of this machine (mode ${modeOf(mode)}). If everything in it is yours: chmod go-w ${folder}`,
  );
}

/** Each folder and link on the way to a folder that exists has to belong to somebody who is trusted, and lets nobody else put another in its place. */
function refuseForeignPath(path: string): void {
  const uid = process.getuid?.();
  if (uid === undefined) return;
  const trusted = [0, uid, programOwner()];
  for (const at of new Set([...waysTo(path), ...waysTo(realpathSync(path))])) {
    const found = lstatSync(at);
    if (!trusted.includes(found.uid))
      throw new ConfigError(
        `${at} belongs to another user of this machine (uid ${found.uid}), who could put other files in the place of ${path}. Name another folder in GERBANG_DATA.`,
      );
    if (found.isDirectory() && (found.mode & WRITABLE_BY_ALL) !== 0 && (found.mode & STICKY) === 0)
      throw new ConfigError(
        `${at} can be written by all users of this machine (mode ${modeOf(found.mode)}), who could put other files in the place of ${path}. Name another folder in GERBANG_DATA.`,
      );
  }
}

/** Whoever owns the program's files decides what it does anyhow: a checkout that is run in a container may be another user's. */
function programOwner(): number {
  return statSync(fileURLToPath(import.meta.url)).uid;
}

function waysTo(path: string): string[] {
  const ways: string[] = [];
  for (let at = path; at !== parse(at).root; at = dirname(at)) ways.push(at);
  return ways;
}

function nearestExisting(path: string): string {
  let at = path;
  while (!existsSync(at)) at = dirname(at);
  return at;
}

function modeOf(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, "0");
}
