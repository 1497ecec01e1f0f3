// Guards that results are kept only from clean trees, so that the commit of a figure has exactly the measured code.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";

/** The state of a directory's tree at the start of a run. Files written through this class do not count as changes. */
export class CleanTree {
  private readonly directory: string;
  /** Paths of written files, from the top of the tree. */
  private readonly written = new Set<string>();
  private readonly start: { commit?: string; why?: string };

  constructor(directory: string) {
    this.directory = directory;
    this.start = this.look();
  }

  /** The commit at the start of the run. */
  get commit(): string {
    return this.start.commit ?? "";
  }

  /** The reason why a result of this run cannot be kept; undefined when it can. */
  unclean(): string | undefined {
    if (this.start.why !== undefined) return this.start.why;
    const { commit, why } = this.look();
    return why ?? (commit === this.start.commit ? undefined : "another commit was checked out meanwhile");
  }

  /** Writes a file in the directory. */
  write(name: string, text: string): void {
    const path = join(this.directory, name);
    writeFileSync(path, text);
    this.written.add(relative(this.git("rev-parse", "--show-toplevel").trim(), path));
  }

  private look(): { commit?: string; why?: string } {
    try {
      const commit = this.git("rev-parse", "--short", "HEAD").trim();
      // Each line is two letters, a space and a path. `--no-renames` avoids the second path of renamed files.
      const changes = this.git("status", "--porcelain", "--untracked-files=all", "--no-renames", "-z")
        .split("\0")
        .map((line) => line.slice(3))
        .filter((path) => path !== "" && !this.written.has(path));
      if (changes.length === 0) return { commit };
      const more = changes.length > 3 ? ` and ${changes.length - 3} more` : "";
      return { commit, why: `the tree is not clean (${changes.slice(0, 3).join(", ")}${more})` };
    } catch {
      return { why: "git does not tell which commit this is" };
    }
  }

  private git(...args: string[]): string {
    return execFileSync("git", args, { cwd: this.directory, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  }
}
