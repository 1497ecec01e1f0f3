// Runs the programs of a folder of examples/ for a test, with a TLS front whose address stays the same while the program behind it changes.
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { createInterface } from "node:readline";
import tls from "node:tls";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { vi } from "vitest";
import type { Certificates } from "./receiver.ts";
import { freePort, compiled } from "./service.ts";

const execute = promisify(execFile);
const root = fileURLToPath(new URL("../../", import.meta.url));
export const folderOf = (example: string): string => `${root}examples/${example}`;

export const python = process.env.GERBANG_TEST_PYTHON ?? "python3";
export const php = process.env.GERBANG_TEST_PHP ?? "php";
export const clients = { python: `${root}clients/python`, php: `${root}clients/php` };

/** True when a program exists on this machine and succeeds with these arguments; checks the requirements of examples. */
export const agrees = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0;

/** The command line of Node that loads the JavaScript client from its source, for examples that run in this checkout. */
export const node = [process.execPath, "--conditions=gerbang-source", "--disable-warning=ExperimentalWarning"];

/** Programs that run together until they are stopped, such as a server and its worker. */
export class Programs {
  /** Lines that the programs printed. */
  readonly lines: string[] = [];
  readonly port: number;
  private readonly children: ChildProcess[] = [];

  private constructor(port: number) {
    this.port = port;
  }

  /** Starts programs in a folder, and waits until one listens. `commands` gets the port. */
  static async start(
    folder: string,
    commands: (port: number) => readonly (readonly string[])[],
    env: Record<string, string>,
  ): Promise<Programs> {
    const programs = new Programs(await freePort());
    const { PATH = "", HOME = "" } = process.env;
    for (const [program = "", ...args] of commands(programs.port)) {
      const child = spawn(program, args, {
        cwd: folder,
        env: { PATH, HOME, ...compiled(), PYTHONDONTWRITEBYTECODE: "1", ...env, PORT: String(programs.port) },
        stdio: ["ignore", "pipe", "pipe"],
      });
      programs.children.push(child);
      for (const stream of [child.stdout, child.stderr])
        createInterface({ input: stream }).on("line", (line) => programs.lines.push(line));
    }
    try {
      await vi.waitFor(() => programs.listens(), { timeout: 200_000, interval: 50 });
    } catch (cause) {
      await programs.stop();
      throw new Error(`nothing listens:\n${programs.lines.join("\n")}`, { cause });
    }
    return programs;
  }

  /** Runs a program to its end, and gives its output; throws when it fails. */
  static async finish(folder: string, command: readonly string[], env: Record<string, string>): Promise<string> {
    const [program = "", ...args] = command;
    const all = { ...process.env, PYTHONDONTWRITEBYTECODE: "1", ...env };
    const { stdout, stderr } = await execute(program, args, { cwd: folder, env: all });
    return stdout + stderr;
  }

  private async listens(): Promise<void> {
    const probe = connect(this.port, "127.0.0.1");
    await once(probe, "connect");
    probe.destroy();
  }

  /** Waits until a program has printed this line. */
  async says(line: string): Promise<void> {
    await vi.waitFor(() => {
      if (!this.lines.includes(line)) throw new Error(`not "${line}", but:\n${this.lines.join("\n")}`);
    }, 30_000);
  }

  async stop(): Promise<void> {
    for (const child of this.children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exited = once(child, "exit");
      child.kill("SIGKILL"); // examples must survive a stop without warning
      await exited;
    }
  }
}

/** A TLS front with a fixed address, which passes connections on to `target`. */
export class Front {
  /** Port to which connections go. */
  target = 0;
  private readonly server: tls.Server;

  private constructor({ key, cert }: Certificates) {
    this.server = tls.createServer({ key, cert }, (socket) => {
      const inner = connect(this.target, "127.0.0.1");
      socket.pipe(inner).pipe(socket);
      for (const end of [socket, inner]) {
        end.on("error", () => socket.destroy());
        end.on("close", () => inner.destroy());
      }
    });
  }

  static async start(certificates: Certificates): Promise<Front> {
    const front = new Front(certificates);
    front.server.listen(0, "127.0.0.1");
    await once(front.server, "listening");
    return front;
  }

  get url(): string {
    return `https://localhost:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.close();
    await once(this.server, "close");
  }
}
