// Which contracts the pages keep to: read as one, without the headers, which the client of the pages sets by itself.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
export const generatedFile = join(root, "portal/src/api/contract.ts");

interface Contract {
  paths: Record<string, unknown>;
  components: Record<string, Record<string, unknown>>;
}

/** The portal's own contract comes last: where both say something, it is right about the pages. */
export function contractFiles(): string[] {
  return ["openapi/merchant.json", "openapi/portal.json"].filter((name) => existsSync(join(root, name)));
}

/** Changes with every byte of the contracts: the generated file names the ones that it was made from. */
export function contractHash(): string {
  const hash = createHash("sha256");
  for (const name of contractFiles()) hash.update(readFileSync(join(root, name)));
  return hash.digest("hex").slice(0, 32);
}

/** All contracts as one. Paths begin with /v1, wherever they are mounted: the client knows where. */
export function pagesContract(): unknown {
  const documents = contractFiles().map((name) => JSON.parse(readFileSync(join(root, name), "utf8")) as Contract);
  const paths: Record<string, unknown> = {};
  const components: Record<string, Record<string, unknown>> = {};
  for (const document of documents) {
    for (const [path, item] of Object.entries(document.paths)) paths[path.replace(/^\/portal/, "")] = item;
    for (const [kind, named] of Object.entries(document.components)) {
      components[kind] = { ...components[kind], ...named };
    }
  }
  delete components.securitySchemes;
  return withoutHeaders({ openapi: "3.1.0", info: { title: "Pages", version: "1" }, paths, components }, components);
}

function withoutHeaders(value: unknown, components: Contract["components"]): unknown {
  if (Array.isArray(value)) {
    return value.filter((item) => !isHeader(item, components)).map((item) => withoutHeaders(item, components));
  }
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([, item]) => !isHeader(item, components));
  return Object.fromEntries(kept.map(([name, item]) => [name, withoutHeaders(item, components)]));
}

/** A parameter that is a header, or a reference to one. */
function isHeader(item: unknown, components: Contract["components"]): boolean {
  if (typeof item !== "object" || item === null) return false;
  if ("in" in item && item.in === "header" && "name" in item) return true;
  const name = "$ref" in item ? /^#\/components\/parameters\/(.+)$/.exec(String(item.$ref))?.[1] : undefined;
  const parameter = name === undefined ? undefined : components.parameters?.[name];
  return typeof parameter === "object" && parameter !== null && "in" in parameter && parameter.in === "header";
}
