// The folder of a test run, for databases, data of services and temporary files. It is in memory when the machine has a file system for that: a
// database has a thousand small files, so a clone on a disk costs ten times the processor time, and removing all clones takes a minute.
import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MEMORY = "/dev/shm";
/** Free space that a run demands; much more than a run was seen to use. */
const ROOM_BYTES = 2 * 1024 ** 3;
const NAME = /^gerbang-tests-(\d+)-/;

/** Makes the folder, and removes folders in memory of runs that were killed. */
export function makeRunFolder(): string {
  if (!hasRoom(MEMORY)) return makeIn(tmpdir());
  for (const left of readdirSync(MEMORY)) {
    const run = NAME.exec(left)?.[1];
    // A server of that run which still runs ends when it finds its files gone.
    if (run !== undefined && !isAlive(Number(run))) rmSync(join(MEMORY, left), { recursive: true, force: true });
  }
  const folder = makeIn(MEMORY);
  if (runsPrograms(folder)) return folder;
  rmSync(folder, { recursive: true });
  return makeIn(tmpdir());
}

function makeIn(place: string): string {
  return mkdtempSync(join(place, `gerbang-tests-${process.pid}-`));
}

function hasRoom(place: string): boolean {
  if (!existsSync(place)) return false;
  const { bavail, bsize } = statfsSync(place);
  return bavail * bsize >= ROOM_BYTES;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Whether programs may run from a folder: some machines forbid it in memory, and tests write programs. */
function runsPrograms(folder: string): boolean {
  const program = join(folder, "program");
  writeFileSync(program, "", { mode: 0o700 });
  try {
    accessSync(program, constants.X_OK);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(program);
  }
}
