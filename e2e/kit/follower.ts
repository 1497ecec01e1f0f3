// A person who follows a guide: works in a copy of the checkout and in a shop's folder beside it, and types the code blocks of a page there.
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, vi } from "vitest";
import { buildDocs } from "../../docs/site/build.ts";
import { operate, settledLate } from "./client.ts";
import { Service, freePort } from "./service.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const python = process.env.GERBANG_TEST_PYTHON ?? "python3";
const php = process.env.GERBANG_TEST_PHP ?? "php";
const works = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0;

/** The languages of guides that this machine can run. All of them need the shell, and curl. */
export const languages = {
  shell: works("bash", "--version") && works("curl", "--version"),
  python: works(python, "-c", "import sys; sys.exit(sys.version_info < (3, 9))"),
  php: works(php, "-r", "exit(PHP_VERSION_ID < 80000 ? 1 : 0);"),
};

interface Block {
  language: string;
  code: string;
  /** The file name in the first line, for a program to save; undefined for other blocks. */
  file: string | undefined;
}

/** The code blocks of a page of docs/guides, in order. */
export function blocksOf(page: string): Block[] {
  const text = readFileSync(join(root, "docs/guides", page), "utf8");
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = "", code = ""]) => {
    const [, file] = /^(?:<\?php )?(?:\/\/|#) ([\w.-]+\.(?:mjs|py|php))\n/.exec(code) ?? [];
    return { language, code, file };
  });
}

/** Text before every command of the shell: uses the programs of this machine, and installs packages without a registry. */
const prelude = `
node() { command ${JSON.stringify(process.execPath)} "$@"; }
python3() { command ${JSON.stringify(python)} "$@"; }
php() { command ${JSON.stringify(php)} "$@"; }
npx() { if [ -x "node_modules/.bin/$1" ]; then "node_modules/.bin/$@"; else command "$@"; fi; }
npm() {
  if [ "$1" != install ]; then command npm "$@"; return; fi
  shift
  for one in "$@"; do
    case "$one" in
      http://*) command npm install --no-audit --no-fund "$one" ;;
      *) ln -sfn ${JSON.stringify(root)}/node_modules/"$one" node_modules/"$one" ;;
    esac
  done
}
`;

export class Follower {
  readonly service: Service;
  readonly port: number;
  private readonly place: string;
  private readonly running: ChildProcess[] = [];
  /** Output of the programs in the background. */
  printed = "";

  private constructor(place: string, service: Service, port: number) {
    this.place = place;
    this.service = service;
    this.port = port;
  }

  /** Starts the service, as after the first step of the tutorial. */
  static async begin(): Promise<Follower> {
    const place = mkdtempSync(join(tmpdir(), "gerbang-follower-"));
    mkdirSync(join(place, "gerbang"));
    for (const name of ["node_modules", "gateway", "package.json"])
      symlinkSync(join(root, name), join(place, "gerbang", name));
    // As `npm start` does: the service has the packages and the clients.
    await buildDocs(() => undefined, join(root, "docs/site/dist"));
    const service = await Service.start();
    symlinkSync(service.dataDirectory, join(place, "gerbang/.data"));
    // The pages are followed one after the other by one key, faster than people type.
    const { demo } = service;
    await operate(demo, "PATCH", `/merchants/${demo.merchant_id}`, { ...settledLate, rate_limit_per_minute: 10_000 });
    return new Follower(place, service, await freePort());
  }

  /** The shop's folder, with keys and programs. */
  get shop(): string {
    return join(this.place, "shop");
  }

  // Another program on this machine may use the port that the pages name.
  private atOwnPort(text: string): string {
    return text.replaceAll("localhost:3000", `localhost:${this.port}`);
  }

  /** Saves the programs of a page under their file names. Gives the names. */
  save(page: string): string[] {
    return blocksOf(page).flatMap(({ file, code }) => {
      if (file === undefined) return [];
      writeFileSync(join(this.shop, file), this.atOwnPort(code));
      return [file];
    });
  }

  /** What the compiler says of a page's JavaScript as strict TypeScript, with the installed library; but for variables and packages without types. */
  async mistypedOf(page: string): Promise<string> {
    const folder = mkdtempSync(join(this.shop, "typed-"));
    const programs = blocksOf(page).filter(({ file }) => file?.endsWith(".mjs"));
    for (const { file = "", code } of programs) writeFileSync(join(folder, file.replace(".mjs", ".mts")), code);
    const roots = JSON.stringify(join(root, "node_modules/@types"));
    const asked = `tsc --ignoreConfig --noEmit --strict --module nodenext --types node --typeRoots ${roots} *.mts`;
    const said = await this.type(asked, folder).catch((error: { stdout: string }) => error.stdout);
    rmSync(folder, { recursive: true });
    return said.replaceAll(/^.*error TS70\d\d: .*\n(?: .*\n)*/gm, "");
  }

  private bash(command: string, folder: string): [string, string[], object] {
    const keys = folder === this.shop ? ". ./keys.sh" : "true";
    const env = {
      PATH: `${join(root, "node_modules/.bin")}:${dirname(process.execPath)}:${process.env.PATH ?? ""}`,
      HOME: process.env.HOME ?? "/",
      PORT: String(this.port),
      PYTHONDONTWRITEBYTECODE: "1",
      ...(process.env.NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE } : {}),
      GERBANG_DATA: this.service.dataDirectory,
    };
    return ["bash", ["-c", `${prelude}set -e\n${keys}\n${this.atOwnPort(command)}`], { cwd: folder, env }];
  }

  /** Types a command in the shop's folder, or in another one. Gives its output; throws when it fails. */
  async type(command: string, folder = this.shop): Promise<string> {
    const [program, args, options] = this.bash(command, folder);
    return (await promisify(execFile)(program, args, { ...options, encoding: "utf8" })).stdout;
  }

  /** Types a command that must fail. Gives its exit code and outputs. */
  async typeAndFail(command: string): Promise<{ code: unknown; stdout: string; stderr: string }> {
    const failed = await this.type(command).then(
      (stdout) => ({ code: 0, stdout, stderr: "" }),
      (error: { code: unknown; stdout: string; stderr: string }) => error,
    );
    expect(failed.code).not.toBe(0);
    return failed;
  }

  /** Types a command in the copy of the checkout. */
  typeInService(command: string): Promise<string> {
    return this.type(command, join(this.place, "gerbang"));
  }

  /** Starts a background program and waits until it is up: a server of the shop, or `gerbang listen`. */
  async start(command: string): Promise<void> {
    const isListener = command.includes("gerbang listen");
    const [program, args, options] = this.bash(`exec_it() { ${command.trim()}\n}; exec_it`, this.shop);
    const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"], detached: true });
    this.running.push(child);
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => void (this.printed += text));
    const isUp = isListener
      ? (): void => expect(this.printed).toMatch(/^Ready: /m)
      : (): Promise<void> => reached(this.port);
    await vi.waitFor(isUp, { timeout: 200_000, interval: 50 });
  }

  /** Waits until a background program has printed this text. */
  async sees(text: string | RegExp): Promise<void> {
    await vi.waitFor(() => expect(this.printed).toMatch(text), { timeout: 200_000, interval: 50 });
  }

  /** Stops the background programs. */
  async stopPrograms(): Promise<void> {
    for (const child of this.running.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) continue;
      // Its output ends when the last of its processes does: the shell may go before the server, which still holds the port.
      const gone = once(child, "close");
      process.kill(-child.pid, "SIGTERM");
      await gone;
    }
    this.printed = "";
  }

  async end(): Promise<void> {
    await this.stopPrograms();
    await this.service.discard();
    rmSync(this.place, { recursive: true, force: true });
  }
}

function reached(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = connect(port, "localhost", () => {
      probe.destroy();
      resolve();
    });
    probe.on("error", reject);
  });
}
