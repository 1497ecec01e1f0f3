// Folders of this program alone: created exclusively, and rejected when another user of the machine could have prepared them.
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
 * Makes a folder and its missing parents; its owner may write in it, and others may pass through. Throws `ConfigError` when the folder, or one
 * above it, can be changed by anybody but root, the user of this process and the owner of the program's files.
 */
export function ownFolder(path: string): void {
  const folder = resolve(path);
  if (existsSync(folder)) refuseWritable(folder, statSync(folder));
  else {
    // Existing folders are checked before anything is made inside them.
    refuseForeignPath(nearestExisting(folder));
    mkdirSync(folder, { recursive: true, mode: 0o711 });
  }
  refuseForeignPath(folder);
}

/**
 * Makes a folder that only its owner can read, or takes over one that belongs to root, the user of this process or `owner`. Its parent must
 * exist. Throws `ConfigError` for a symbolic link, for something other than a folder, for another owner, and when others can write in it.
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
  // The handle refers to one folder for both the check and the change of owner, even if the path is replaced meanwhile.
  const handle = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    refuseUnlessIts(folder, fstatSync(handle), [owner.uid]);
    fchownSync(handle, owner.uid, owner.gid);
  } finally {
    closeSync(handle);
  }
}

/** Throws `ConfigError` unless the path is a real folder of root, of this process's user or of `owner`, and only its owner can write in it. */
export function refuseUnlessOwned(folder: string, owner?: User): void {
  const found = lstatSync(folder);
  if (found.isSymbolicLink())
    throw new ConfigError(
      `${folder} is a symbolic link: the files of the database need a real folder. Remove the link.`,
    );
  if (!found.isDirectory()) throw new ConfigError(`${folder} is no folder: remove it.`);
  refuseUnlessIts(folder, found, owner ? [owner.uid] : []);
}

/** Writes a file that must not exist yet, readable by its owner alone. Follows no symbolic link. */
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
  if (uid === undefined) return; // this system has no numeric users
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

/** Throws `ConfigError` unless each folder and link on the way to an existing folder has a trusted owner, and no other user can replace it. */
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

/** The owner of the program's files is trusted, since that user can change the program. A checkout in a container may have another owner. */
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
