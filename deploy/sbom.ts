// Prints the software bill of materials of production as CycloneDX: `npm run -s sbom > sbom.json`. Each package has the hash from the lock file.
// npm writes the document; this program chooses its packages, since npm's `--omit dev` drops packages that service and tests share (86 of 204).
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");

interface Component {
  "bom-ref": string;
  name: string;
}

interface Document {
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

interface Locked {
  name?: string;
  version?: string;
  dev?: boolean;
  optionalDependencies?: Record<string, string>;
}

function documentOfNpm(): Document {
  const args = ["sbom", "--package-lock-only", "--sbom-format", "cyclonedx", "--sbom-type", "application"];
  return JSON.parse(execFileSync("npm", args, { cwd: root, encoding: "utf8", maxBuffer: 64 << 20 })) as Document;
}

/** Packages in the lock file that are not only for development, by the names in npm's document. */
function lockedForProduction(packages: Record<string, Locked>): Set<string> {
  const all = Object.entries(packages).filter(([, { dev }]) => dev !== true);
  return new Set(all.map(([path, { name = path.replace(/^.*node_modules\//, ""), version }]) => `${name}@${version}`));
}

/** Every package that the service, its pages and their build reach, and the Node that runs them. */
function reached(document: Document, packages: Record<string, Locked>): Set<string> {
  const wanted = lockedForProduction(packages);
  const edges = new Map(document.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const starts = [
    packages.gateway?.name,
    packages.portal?.name,
    packages["docs/site"]?.name,
    ...Object.keys(packages[""]?.optionalDependencies ?? {}),
  ];
  const open = document.components.map((one) => one["bom-ref"]).filter((ref) => starts.includes(nameOf(ref)));
  const found = new Set<string>();
  for (let ref = open.pop(); ref !== undefined; ref = open.pop()) {
    if (found.has(ref) || !wanted.has(ref)) continue;
    found.add(ref);
    open.push(...(edges.get(ref) ?? []));
  }
  return found;
}

/** A component's name from its reference. The name field of npm's document is wrong for packages of this tree: it names their folders. */
function nameOf(ref: string): string {
  return ref.replace(/@[^@]*$/, "");
}

const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as { packages: Record<string, Locked> };
const document = documentOfNpm();
const whole = document.metadata.component;
const kept = reached(document, lock.packages);
document.components = document.components.filter((one) => kept.has(one["bom-ref"]));
for (const one of [whole, ...document.components]) one.name = nameOf(one["bom-ref"]);
document.dependencies = document.dependencies
  .filter(({ ref }) => kept.has(ref) || ref === whole["bom-ref"])
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }));
process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
