// Goal: no other user of the machine can prepare a folder that this program then trusts. Method: real folders with each owner, mode and link.
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ConfigError } from "./config.ts";
import { ownFolder, ownPrivateFolder, refuseUnlessOwned, writePrivateFile } from "./private-folders.ts";

const FOREIGN = 12_345;
const isRoot = process.getuid?.() === 0;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "gerbang-folders-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const modeOf = (path: string): string => (lstatSync(path).mode & 0o7777).toString(8);
const make = (name: string, mode = 0o755): string => {
  const path = join(root, name);
  mkdirSync(path, { recursive: true });
  chmodSync(path, mode);
  return path;
};

/** The sentence of the refusal. */
function refusal(work: () => void): string {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message.replaceAll(root, "");
  }
  return "none";
}

test("a folder is made with its parents, and a private one for its owner alone", () => {
  const data = join(root, "a", "b");
  ownFolder(data);
  ownFolder(data);
  expect(modeOf(data)).toBe("711");
  ownPrivateFolder(join(data, "postgres"));
  ownPrivateFolder(join(data, "postgres"));
  expect(modeOf(join(data, "postgres"))).toBe("700");
});

test("what can be written by a group or by all is refused, and the sentence says what to do", () => {
  expect(refusal(() => ownFolder(make("group", 0o775)))).toBe(
    "/group can be written by other users of this machine (mode 0775). If everything in it is yours: chmod go-w /group",
  );
  expect(refusal(() => ownFolder(make("sticky", 0o1777)))).toContain("/sticky can be written by other users");
  expect(refusal(() => ownPrivateFolder(make("all", 0o707)))).toContain("/all can be written by other users");
});

test("a folder below one that all can write in, and swap, is refused", () => {
  make("open", 0o777);
  expect(refusal(() => ownFolder(join(root, "open", "data")))).toContain("/open can be written by all users");
  expect(() => lstatSync(join(root, "open", "data"))).toThrow("ENOENT");
  // As /tmp is: who made a folder there is the only one who can move it.
  make("shared", 0o1777);
  ownFolder(join(root, "shared", "data"));
  expect(modeOf(join(root, "shared", "data"))).toBe("711");
});

test("a link in the place of a private folder is refused, and what it leads to stays as it is", () => {
  const elsewhere = make("elsewhere", 0o755);
  symlinkSync(elsewhere, join(root, "link"));
  expect(refusal(() => ownPrivateFolder(join(root, "link")))).toBe(
    "/link is a symbolic link: the files of the database need a real folder. Remove the link.",
  );
  symlinkSync(join(root, "nowhere"), join(root, "dangling"));
  expect(refusal(() => ownPrivateFolder(join(root, "dangling")))).toContain("/dangling is a symbolic link");
  expect(() => ownFolder(join(root, "dangling"))).toThrow();
  expect(() => lstatSync(join(root, "nowhere"))).toThrow("ENOENT");
  writeFileSync(join(root, "file"), "");
  expect(refusal(() => refuseUnlessOwned(join(root, "file")))).toBe("/file is no folder: remove it.");
});

test("a link to a data folder of one's own is fine", () => {
  symlinkSync(make("disk"), join(root, "link"));
  ownFolder(join(root, "link"));
  ownPrivateFolder(join(root, "link", "postgres"));
  expect(modeOf(join(root, "disk", "postgres"))).toBe("700");
});

test("a private file is never written through a link, nor into a file that is there", () => {
  const target = join(root, "target");
  writeFileSync(target, "precious");
  symlinkSync(target, join(root, "link"));
  expect(() => writePrivateFile(join(root, "link"), "x")).toThrow("EEXIST");
  expect(() => writePrivateFile(target, "x")).toThrow("EEXIST");
  writePrivateFile(join(root, "new"), "x");
  expect(modeOf(join(root, "new"))).toBe("600");
});

describe.skipIf(!isRoot)("where other users' folders can be made (as root)", () => {
  const user = { uid: 23_456, gid: 23_456 };
  const foreign = (path: string): string => {
    chownSync(path, FOREIGN, FOREIGN);
    return path;
  };

  test("a folder that another user has prepared is refused", () => {
    const prepared = foreign(make("prepared", 0o700));
    expect(refusal(() => ownPrivateFolder(prepared))).toBe(
      "/prepared belongs to another user of this machine (uid 12345), who could read or change what is put there. Remove it, or name another folder in GERBANG_DATA.",
    );
    expect(refusal(() => ownPrivateFolder(prepared, user))).toContain("/prepared belongs to another user");
    expect(statSync(prepared).uid).toBe(FOREIGN);
    expect(refusal(() => refuseUnlessOwned(prepared, user))).toContain("/prepared belongs to another user");
    expect(refusal(() => ownFolder(prepared))).toContain("/prepared belongs to another user");
  });

  test("a folder within another user's is refused, also where a link leads there", () => {
    foreign(make("theirs"));
    make("theirs/mine", 0o700);
    expect(refusal(() => ownFolder(join(root, "theirs", "mine")))).toContain("/theirs belongs to another user");
    expect(refusal(() => ownFolder(join(root, "theirs", "new")))).toContain("/theirs belongs to another user");
    expect(() => lstatSync(join(root, "theirs", "new"))).toThrow("ENOENT");
    symlinkSync(join(root, "theirs", "mine"), join(root, "link"));
    expect(refusal(() => ownFolder(join(root, "link")))).toContain("/theirs belongs to another user");
  });

  test("a private folder is handed to its user, and taken over from root", () => {
    ownPrivateFolder(join(root, "postgres"), user);
    expect(statSync(join(root, "postgres"))).toMatchObject(user);
    // As a start leaves it that was killed before it handed it on.
    chownSync(join(root, "postgres"), 0, 0);
    ownPrivateFolder(join(root, "postgres"), user);
    expect(statSync(join(root, "postgres"))).toMatchObject(user);
    ownPrivateFolder(join(root, "postgres"), user);
    writePrivateFile(join(root, "postgres", "file"), "x", user);
    expect(statSync(join(root, "postgres", "file"))).toMatchObject(user);
  });
});
