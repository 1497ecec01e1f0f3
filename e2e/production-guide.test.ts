// Goal: whoever follows docs/guides/production.md word for word has a service that runs, is verified, restored and upgraded. Method: its
// commands, in order, in one shell and a clean folder, against a real PostgreSQL with TLS, behind a real nginx where there is one. Replaced are
// names, ports and folders (`replacements`), and the programs that would change this machine (`standIns`).
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PostgresServer, findServerPrograms } from "../gateway/test/postgres-server.ts";
import { makeCertificates } from "./kit/receiver.ts";
import { freePort } from "./kit/service.ts";
import { systemctl } from "./kit/systemctl.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const guide = readFileSync(join(root, "docs/guides/production.md"), "utf8");
const version = (program: string): string | undefined =>
  spawnSync("bash", ["-c", `${program} --version 2>/dev/null || ${program} -v 2>&1`], { encoding: "utf8" }).stdout;

/** What the guide takes for granted on a server. A client of PostgreSQL dumps no server that is newer than itself. */
const programs = await findServerPrograms();
const client = Number(/ (\d+)/.exec(version("pg_dump") ?? "")?.[1] ?? 0);
const shell = ["bash", "curl", "openssl", "psql", "ps"].every((program) => (version(program) ?? "") !== "");
const possible = shell && client >= programs.major;
const nginx = spawnSync("bash", ["-c", "PATH=$PATH:/usr/sbin command -v nginx"], { encoding: "utf8" }).stdout.trim();
if (!possible)
  console.warn(
    `The production guide is not followed: it needs bash, curl, openssl, psql and pg_dump ${programs.major}.`,
  );
else console.info(`The production guide is followed with ${programs.what}, ${nginx === "" ? "and no nginx" : nginx}.`);

describe("the archive of the log", () => {
  const folder = mkdtempSync(join(tmpdir(), "gerbang-archive-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const segment = Buffer.alloc(100_000, 7);
  const archived = (name: string): string => join(folder, "wal", name);
  mkdirSync(join(folder, "wal"));
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "segment"), segment);

  /** Archives the segment under a name, as PostgreSQL does. True when the command says that it is archived. */
  function archive(name: string, { kib = "unlimited", programs = "" } = {}): boolean {
    const command = (/^archive_command = '(.*)'$/m.exec(guide)?.[1] ?? "")
      .replaceAll("/var/backups/gerbang/wal", join(folder, "wal"))
      .replaceAll("%p", join(folder, "segment"))
      .replaceAll("%f", name);
    const env = { ...process.env, PATH: `${programs}:${process.env.PATH}` };
    return spawnSync("sh", ["-c", `ulimit -f ${kib}; ${command}`], { env }).status === 0;
  }

  test("is asked by a command that the shell of the guide leaves as it stands", () => {
    expect(/^archive_command = '(.*)'$/m.exec(guide)?.[1]).not.toMatch(/[$`'\\]/);
  });

  test("takes a segment whose copy was broken off by a full disk when there is room again", () => {
    expect(archive("0001", { kib: "10" })).toBe(false);
    expect(existsSync(archived("0001"))).toBe(false);
    expect(existsSync(archived("0001.part"))).toBe(true);
    expect(archive("0001")).toBe(true);
    expect(readFileSync(archived("0001"))).toEqual(segment);
    expect(existsSync(archived("0001.part"))).toBe(false);
  });

  test("takes a segment again that it has, and never another one of the same name", () => {
    expect(archive("0002")).toBe(true);
    expect(archive("0002")).toBe(true);
    for (const other of [Buffer.alloc(100_000, 8), segment.subarray(1), Buffer.alloc(0)]) {
      writeFileSync(archived("0002"), other);
      expect(archive("0002")).toBe(false);
      expect(readFileSync(archived("0002"))).toEqual(other);
    }
  });

  test("has a segment under its name only when the disk has it", () => {
    writeFileSync(join(folder, "bin/sync"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    expect(archive("0003", { programs: join(folder, "bin") })).toBe(false);
    expect(existsSync(archived("0003"))).toBe(false);
    expect(archive("0003")).toBe(true);
    // A segment that is there counts only once the folder is on the disk, too.
    expect(archive("0003", { programs: join(folder, "bin") })).toBe(false);
  });
});

describe("what makes the archive smaller", () => {
  const folder = mkdtempSync(join(tmpdir(), "gerbang-archive-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const segment = (number: number, timeline = 1): string =>
    [timeline, 0, number].map((part) => part.toString(16).toUpperCase().padStart(8, "0")).join("");
  const others = ["00000002.history", `${segment(1)}.part`, `${segment(2)}.00000028.backup`];

  /** Runs the commands of the guide on an archive of twelve segments. Gives what is left, and removes it. */
  function left(): string[] {
    const [, commands = ""] = /### The archive\n[^]*?```sh\n([^]*?)```/.exec(guide) ?? [];
    mkdirSync(join(folder, "wal"));
    const segments = [...Array.from({ length: 10 }, (_, number) => segment(number)), segment(10, 2), segment(11, 2)];
    for (const name of [...segments, ...others]) writeFileSync(join(folder, "wal", name), "");
    const here = commands.replaceAll("/var/backups/gerbang", folder).replaceAll("sudo -u postgres ", "");
    expect(spawnSync("bash", ["-euo", "pipefail", "-c", here]).status).toBe(0);
    const names = readdirSync(join(folder, "wal")).toSorted();
    rmSync(join(folder, "wal"), { recursive: true });
    return names;
  }

  test("removes nothing without a base backup", () => {
    expect(left()).toHaveLength(12 + others.length);
  });

  test("removes the segments from before the oldest base backup, and nothing else", () => {
    for (const [name, first] of [
      ["base-2026-11-21", segment(8)],
      ["base-2026-11-28", segment(11, 2)],
    ] as const) {
      mkdirSync(join(folder, name));
      writeFileSync(
        join(folder, name, "backup_label"),
        `START WAL LOCATION: 0/8000028 (file ${first})\nCHECKPOINT LOCATION: 0/8000080\n`,
      );
    }
    const kept = [segment(8), segment(9), segment(10, 2), segment(11, 2), ...others];
    expect(left()).toEqual(kept.toSorted());
  });
});

describe.runIf(possible)("the production guide", () => {
  let place: string;
  let server: PostgresServer;
  let restored: PostgresServer;
  /** The server that is brought back to a moment. */
  let moment: { port: number; data: string };
  let output: Record<string, string>;
  let port: Record<"api" | "other" | "worker" | "http" | "https", number>;
  const at = (...parts: string[]): string => join(place, ...parts);
  const folders = () => ({ units: at("etc/systemd/system"), run: at("run") });

  /** Everything in the guide and in deploy/ that is another on this machine. Nothing else is changed. */
  const replacements = (): [RegExp, string][] => [
    [/(?<![\w./])\/(etc|opt|var)\//g, `${place}/$1/`],
    [/\bdb\.internal:5432\b/g, `db.internal:${server.port}`],
    [/\bport=5432\b/g, `port=${server.port}`],
    [/\b5433\b/g, String(restored.port)],
    [/\b5434\b/g, String(moment.port)],
    // Something is committed after the moment, as on a server with traffic.
    [
      /^MOMENT=.*$/gm,
      "MOMENT=$(date -u '+%F %T.%N+00'); sudo -u postgres psql -qc \"comment on database gerbang is 'later'\"",
    ],
    [/\bdb\.internal\b/g, "localhost"],
    [/\b10\.0\.0\.0\/8\b/g, "127.0.0.1/32"],
    [/\b808([012])\b/g, "$api+$1"],
    [/\b809([012])\b/g, "$other+$1"],
    [/\b807([012])\b/g, "$worker+$1"],
    [/\$(api|other|worker)\+(\d)/g, ""],
    [/listen 80;/g, `listen 127.0.0.1:${port.http};`],
    [/listen 443 ssl;/g, `listen 127.0.0.1:${port.https} ssl;`],
    [/https:\/\/pay\.example\.com/g, nginx === "" ? `http://localhost:${port.api}` : `https://localhost:${port.https}`],
  ];
  const replaced = (text: string): string => {
    let result = text;
    for (const [pattern, by] of replacements())
      result =
        by === ""
          ? result.replaceAll(pattern, (_, name: "api" | "other" | "worker", more: string) =>
              String(port[name] + Number(more)),
            )
          : result.replaceAll(pattern, by);
    return result;
  };

  /** Programs that would change this machine, each with what it does here instead. */
  const standIns = (): Record<string, string> => ({
    "apt-get": "exit 0",
    useradd: "exit 0",
    pg_createcluster: `mkdir -p ${at("etc/postgresql")}/$1/$2/conf.d ${at("var/lib/postgresql")}/$1/$2`,
    // What Debian keeps in /etc lies in the cluster's own folder here.
    pg_ctlcluster: `
cat ${at("etc/postgresql/15/moment/conf.d")}/*.conf >> ${moment.data}/postgresql.conf
echo "port = ${moment.port}" >> ${moment.data}/postgresql.conf
echo "host all all 127.0.0.1/32 scram-sha-256" >> ${moment.data}/pg_hba.conf
chown -R ${server.runAs?.uid ?? "$(id -u)"} ${moment.data}
cd / && exec ${server.command("start", moment.data)}`,
    // A release is the tree as it stands; its packages and pages are those of this checkout.
    git: `cp -a ${at("release")} "\${@: -1}"`,
    npm: `if [ "$1" = ci ]; then ln -s ${join(root, "node_modules")} node_modules; fi`,
    nginx: `exec ${nginx} -c ${at("nginx.conf")} "$@"`,
    sudo: `
if [ "$1" = -u ]; then
  shift 2; unset PGPASSWORD
  export PGHOST=${at("sockets")} PGUSER=postgres PGPORT="\${PGPORT:-${server.port}}"
fi
if [ "$1" != install ]; then exec "$@"; fi
shift; args=(); owner=
while [ $# -gt 0 ]; do
  case "$1" in -o) owner=$2; shift 2;; -g) shift 2;; *) args+=("$1"); shift;; esac
done
install "\${args[@]}"
if [ "$owner" = postgres ] && [ -n "${server.runAs?.uid ?? ""}" ]; then
  if [ "\${args[0]}" = -d ]; then chown ${server.runAs?.uid} "\${args[@]:3}"; else chown ${server.runAs?.uid} "\${args[@]: -1}"; fi
fi`,
    systemctl: `
case "$*" in
  "restart postgresql") cd / && exec ${at("restart-postgresql")};;
  "reload nginx") exec ${nginx} -c ${at("nginx.conf")};;
  *) exec ${process.execPath} ${join(root, "e2e/kit/systemctl.ts")} ${folders().units} ${folders().run} "$@";;
esac`,
  });

  beforeAll(async () => {
    place = mkdtempSync(join(tmpdir(), "gerbang-production-"));
    chmodSync(place, 0o755);
    for (const folder of [
      "etc/systemd/system",
      "etc/nginx/sites-enabled",
      "etc/gerbang/tls",
      "opt/gerbang",
      "var/backups",
      "run",
      "bin",
      "home",
      "sockets",
      "logs",
    ])
      mkdirSync(at(folder), { recursive: true });
    chmodSync(at("sockets"), 0o777);
    const settings = ["include_dir = 'conf.d'"];
    server = await PostgresServer.start(at("postgres"), {
      sockets: at("sockets"),
      settings,
      folders: ["conf.d"],
      access: [],
    });
    restored = await PostgresServer.start(at("restored"), { sockets: at("sockets") });
    moment = { port: await freePort(), data: at("var/lib/postgresql/15/moment") };
    const [api, other, worker, http, https] = await Promise.all([1, 2, 3, 4, 5].map(() => freePort()));
    port = { api, other, worker, http, https } as typeof port;
    const certificates = await makeCertificates();
    writeFileSync(at("etc/gerbang/tls/pay.example.com.crt"), certificates.cert);
    writeFileSync(at("etc/gerbang/tls/pay.example.com.key"), certificates.key, { mode: 0o600 });
    writeFileSync(at("ca.pem"), readFileSync(certificates.caFile));
    makeRelease();
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `${name}_temp_path ${at("logs", name)};`,
    );
    writeFileSync(
      at("nginx.conf"),
      `${process.getuid?.() === 0 ? "user root;" : ""} pid ${at("nginx.pid")}; error_log ${at("logs/nginx.log")}; events {}
http { access_log ${at("logs/access.log")}; ${temporary.join(" ")} include ${at("etc/nginx/sites-enabled")}/*; }\n`,
    );
    for (const [name, text] of Object.entries(standIns()))
      writeFileSync(at("bin", name), `#!/bin/bash\n${text}\n`, { mode: 0o755 });
    writeFileSync(at("restart-postgresql"), `#!/bin/bash\n${server.command("restart")}\n`, { mode: 0o755 });
    output = follow();
  }, 900_000);

  afterAll(async () => {
    if (!place) return;
    if (existsSync(at("nginx.pid"))) process.kill(Number(readFileSync(at("nginx.pid"), "utf8")));
    for (const file of readdirSync(at("run")).filter((name) => name.endsWith(".pid")))
      await systemctl(["stop", file.replace(/\.pid$/, "")], folders());
    for (const one of [server, restored]) one?.stop();
    if (existsSync(join(moment.data, "postmaster.pid")))
      execFileSync("bash", ["-c", server.command("stop", moment.data)]);
    rmSync(place, { recursive: true, force: true });
  });

  /** How a unit of PostgreSQL's own user reaches the server of this test. */
  const asPostgres = (): string =>
    [
      `PGHOST=${at("sockets")}`,
      `PGPORT=${server.port}`,
      "PGUSER=postgres",
      `PATH=${server.programs.directory}:/usr/bin:/bin`,
    ]
      .map((pair) => `Environment=${pair}\n`)
      .join("");

  /** The tree of a release, with what is another on this machine already replaced in deploy/. */
  function makeRelease(): void {
    mkdirSync(at("release"));
    for (const part of ["gateway", "portal", "package.json"]) symlinkSync(join(root, part), at("release", part));
    cpSync(join(root, "deploy"), at("release/deploy"), { recursive: true });
    for (const folder of ["systemd", "nginx"])
      for (const name of readdirSync(at("release/deploy", folder))) {
        const file = at("release/deploy", folder, name);
        // The public address stays as a setting where nothing serves it.
        const text = readFileSync(file, "utf8").replace("User=postgres\n", asPostgres());
        writeFileSync(file, nginx === "" && name === "gerbang.env" ? text : replaced(text));
      }
  }

  /** Types the guide. Gives the output of each section, by its heading. */
  function follow(sections = guide.split(/^## /m).slice(1)): Record<string, string> {
    const script = ["set -euo pipefail"];
    for (const section of sections) {
      const [heading = ""] = section.split("\n");
      script.push(`echo; echo "## ${heading}"`);
      for (const [, block = ""] of section.matchAll(/```sh\n([^]*?)```/g)) {
        const lines = block
          .split("\n")
          .filter((line) => nginx !== "" || !/\bnginx\b/.test(line) || line.includes("apt-get"));
        script.push(replaced(lines.join("\n")));
      }
    }
    const { status, stdout, stderr } = spawnSync("bash", ["-c", script.join("\n")], {
      cwd: at("home"),
      encoding: "utf8",
      env: {
        HOME: at("home"),
        PATH: `${at("bin")}:${process.env.PATH}`,
        CURL_CA_BUNDLE: at("ca.pem"),
        LANG: "C",
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      },
    });
    const logs = (): string =>
      readdirSync(at("run"))
        .filter((name) => name.endsWith(".log"))
        .map((name) => readFileSync(at("run", name), "utf8"))
        .join("\n");
    expect(status, `${stdout}\n${stderr}\n${status === 0 ? "" : logs()}`).toBe(0);
    return Object.fromEntries(
      stdout
        .split(/^## /m)
        .slice(1)
        .map((part) => [part.split("\n")[0], part]),
    );
  }

  test("both API processes and the worker become ready, and nginx hands requests on", () => {
    expect(output["Migrate and start"]?.match(/"status":"ok"/g)).toHaveLength(3);
    expect(output["The proxy"]).toContain('"status"');
    expect(readFileSync(at("run/gerbang-migrate.log"), "utf8")).toContain("Applied 0001_store.sql");
  });

  test("a merchant is made and its payer pays, through the proxy", () => {
    expect(output["The first merchant"]).toContain('"status":"succeeded"');
  });

  test("an owner and an operator are let in, each at their own address", () => {
    expect(output.People).toMatch(/^http:\/\/localhost:\d+\/console\/invitation#/m);
    expect(output.People).toMatch(/\/portal\/invitation#/);
  });

  test("the books verify clean by the nightly unit", () => {
    expect(readFileSync(at("run/gerbang-verify.log"), "utf8")).toMatch(
      /"journals":1,"clean":true,"head_hash":"[0-9a-f]{64}"/,
    );
  });

  test("what was restored has the same hashes, on a server of its own", () => {
    expect(output.Restore).toContain("the same hashes");
    const lines = readFileSync(at("home/gerbang-setup/restored.jsonl"), "utf8").trim().split("\n");
    expect(lines).toHaveLength(2);
    expect(lines.join()).toContain('"journals":1,"clean":true');
  });

  test("the nightly unit leaves a whole dump, removes old ones, and none when it fails", async () => {
    const dumps = at("var/backups/gerbang/dumps");
    const [name = "", ...others] = readdirSync(dumps);
    expect([name, others]).toEqual([expect.stringMatching(/^gerbang-\d{4}-\d\d-\d\d\.dump$/), []]);
    expect(execFileSync("pg_restore", ["--list", join(dumps, name)], { encoding: "utf8" })).toContain(
      "TABLE DATA public journals gerbang_owner",
    );
    const aged = (days: number): void => {
      writeFileSync(join(dumps, `gerbang-${days}.dump`), "");
      const then = Date.now() / 1_000 - days * 86_400;
      utimesSync(join(dumps, `gerbang-${days}.dump`), then, then);
    };
    [13, 16].forEach(aged);
    const unit = join(folders().units, "gerbang-dump.service");
    const text = readFileSync(unit, "utf8");
    writeFileSync(unit, text.replace(/PGPORT=\d+/, "PGPORT=1"));
    expect(await systemctl(["start", "gerbang-dump"], folders())).not.toBe(0);
    expect(readdirSync(dumps)).toContain("gerbang-16.dump");
    writeFileSync(unit, text);
    expect(await systemctl(["start", "gerbang-dump"], folders())).toBe(0);
    expect(readdirSync(dumps).sort()).toEqual(["gerbang-13.dump", name].sort());
  });

  test("PostgreSQL archives a segment again whose note of the first time was lost", async () => {
    const status = join(server.cluster, "pg_wal/archive_status");
    const [done = ""] = readdirSync(status).filter((file) => /^[0-9A-F]{24}\.done$/.test(file));
    renameSync(join(status, done), join(status, done.replace(".done", ".ready")));
    execFileSync("psql", [
      `host=${at("sockets")} port=${server.port} user=postgres`,
      "-qc",
      "create table again (); drop table again; select pg_switch_wal()",
    ]);
    await expect.poll(() => readdirSync(status), { timeout: 30_000 }).toContain(done);
    expect(readFileSync(join(server.folder, "server.log"), "utf8")).not.toContain("archive command failed");
  });

  test("the base backup is whole, and the log is archived beside it", () => {
    const verifier = join(server.programs.directory, "pg_verifybackup");
    const [base = ""] = readdirSync(at("var/backups/gerbang")).filter((name) => name.startsWith("base-"));
    if (existsSync(verifier)) execFileSync(verifier, [at("var/backups/gerbang", base)], { stdio: "pipe" });
    expect(readdirSync(at("var/backups/gerbang/wal")).length).toBeGreaterThan(0);
  });

  test("the database of a moment has the books of that moment, and takes writes", async () => {
    const read = (name: string): string => readFileSync(at("home/gerbang-setup", name), "utf8");
    expect(read("moment.jsonl")).toBe(read("restored.jsonl"));
    const password = read("owner-password").trim();
    const client = new pg.Client(`postgres://gerbang_owner:${password}@127.0.0.1:${moment.port}/gerbang`);
    await client.connect();
    const { rows } = await client.query(
      "select pg_is_in_recovery() as waits, shobj_description(oid, 'pg_database') as said from pg_database where datname = 'gerbang'",
    );
    await client.end();
    expect(rows).toEqual([{ waits: false, said: null }]);
  });

  test("each process was replaced in the upgrade and became ready again", () => {
    expect(output.Upgrade?.match(/"status":"ok"/g)).toHaveLength(3);
    expect(readFileSync(at("run/gerbang-migrate.log"), "utf8")).toContain("The schema is up to date.");
  });

  test("no secret is in a log, in a unit, or in the environment of a process", () => {
    const secrets = readdirSync(at("etc/gerbang/secrets")).map((name) =>
      readFileSync(at("etc/gerbang/secrets", name), "utf8").trim(),
    );
    secrets.push(
      ...["owner", "service"].map((who) => readFileSync(at(`home/gerbang-setup/${who}-password`), "utf8").trim()),
    );
    expect(secrets).toHaveLength(6);
    const seen = readdirSync(at("run"), { withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".log"))
      .map(({ name }) => readFileSync(at("run", name), "utf8"));
    seen.push(
      readFileSync(join(server.folder, "server.log"), "utf8"),
      readFileSync(at("etc/gerbang/gerbang.env"), "utf8"),
    );
    if (existsSync("/proc/self/environ"))
      for (const name of readdirSync(at("run")).filter((one) => one.endsWith(".pid"))) {
        const pid = readFileSync(at("run", name), "utf8");
        seen.push(readFileSync(`/proc/${pid}/environ`, "utf8"), readFileSync(`/proc/${pid}/cmdline`, "utf8"));
      }
    for (const secret of secrets) for (const text of seen) expect(text.includes(secret)).toBe(false);
  });

  test("PostgreSQL takes the service's roles by TLS alone", async () => {
    const url = readFileSync(at("etc/gerbang/secrets/database-url"), "utf8").trim().split("?")[0];
    const plain = new pg.Client({ connectionString: `${url}?sslmode=disable` });
    await expect(plain.connect()).rejects.toMatchObject({ code: "28000" });
  });

  test("the database's passwords are changed while the service runs, and nobody is left with the old ones", async () => {
    const addresses = (): string[] =>
      ["database-url", "database-owner-url"].map((name) =>
        readFileSync(at("etc/gerbang/secrets", name), "utf8").trim(),
      );
    const old = addresses();
    const stranger = new pg.Client({ connectionString: old[0] ?? "" });
    const ended = new Promise((resolve) => stranger.once("end", resolve));
    stranger.on("error", () => undefined);
    await stranger.connect();
    const running = readFileSync(join(root, "docs/guides/running.md"), "utf8");
    const { length, [0]: section = "" } = running
      .split(/^### /m)
      .filter((one) => one.startsWith("A password of the database\n"));
    expect(length).toBe(1);
    const said = Object.values(follow([section])).join();
    expect(said.match(/"status":"ok"/g)).toHaveLength(3);
    expect(said).toMatch(/^gerbang_service\|.*\|t$/m);
    await ended;
    for (const connectionString of old)
      await expect(new pg.Client({ connectionString }).connect()).rejects.toMatchObject({ code: "28P01" });
    for (const connectionString of addresses()) {
      const client = new pg.Client({ connectionString });
      await client.connect();
      await client.end();
    }
    expect((await fetch(`http://127.0.0.1:${port.api}/v1/health`)).status).toBe(200);
  });

  test("the program before an upgrade refuses a newer schema, and says what it does not know", async () => {
    const owner = new pg.Client({
      connectionString: readFileSync(at("etc/gerbang/secrets/database-owner-url"), "utf8").trim(),
    });
    await owner.connect();
    await owner.query("insert into schema_migrations (version, name, digest) values (9999, '9999_next_year.sql', '')");
    await owner.end();
    expect(await systemctl(["start", "gerbang-migrate"], folders())).not.toBe(0);
    const said = readFileSync(at("run/gerbang-migrate.log"), "utf8");
    expect(said).toMatch(/newer than this program: it has 9999_next_year\.sql\./);
    // What runs goes on: the schema is looked at when a process starts.
    expect((await fetch(`http://127.0.0.1:${port.api}/v1/health`)).status).toBe(200);
  });

  test.skipIf(nginx === "")("what opens a payer's page is in no log of nginx, when nobody answers, too", async () => {
    for (const name of readdirSync(at("run")).filter((file) => /^gerbang-api@\d+\.pid$/.test(file)))
      await systemctl(["stop", name.replace(/\.pid$/, "")], folders());
    const ask = (path: string): string =>
      execFileSync(
        "curl",
        [
          "-s",
          "-o",
          "/dev/null",
          "-w",
          "%{http_code}",
          "--cacert",
          at("ca.pem"),
          `https://localhost:${port.https}${path}`,
        ],
        {
          encoding: "utf8",
        },
      );
    expect([ask("/v1/asked-in-vain"), ask("/pay/token-of-a-payer")]).toEqual(["502", "502"]);
    const logged = ["nginx.log", "access.log"].map((name) => readFileSync(at("logs", name), "utf8")).join("");
    expect(logged).toContain("asked-in-vain");
    expect(logged).not.toContain("token-of-a-payer");
  });
});
