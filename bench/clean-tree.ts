// Results are kept from clean trees alone: whoever checks out the commit of a figure has what was measured.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";

/** The tree of a directory as it was at the start of a run: what is written through it does not count as a change. */
export class CleanTree {
  private readonly directory: string;
  /** By their path from the top of the tree. */
  private readonly written = new Set<string>();
  private readonly start: { commit?: string; why?: string };

  constructor(directory: string) {
    this.directory = directory;
    this.start = this.look();
  }

  /** The commit that the run began with. */
  get commit(): string {
    return this.start.commit ?? "";
  }

  /** Why a result of this run cannot be kept. */
  unclean(): string | undefined {
    if (this.start.why !== undefined) return this.start.why;
    const { commit, why } = this.look();
    return why ?? (commit === this.start.commit ? undefined : "another commit was checked out meanwhile");
  }

  /** Writes a file below the directory. */
  write(name: string, text: string): void {
    const path = join(this.directory, name);
    writeFileSync(path, text);
    this.written.add(relative(this.git("rev-parse", "--show-toplevel").trim(), path));
  }

  private look(): { commit?: string; why?: string } {
    try {
      const commit = this.git("rev-parse", "--short", "HEAD").trim();
      // Two letters, a space and a path; of what was renamed the old path follows by itself, and none is renamed here.
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
