// The contracts from which types are generated, merged for each client and without the headers that clients set by themselves.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** For each generated file: its contracts, and the part of their paths before /v1. */
export const faces = [
  {
    // The portal's own contract comes last, because its definitions override the merchants' for the pages.
    contracts: ["openapi/merchant.json", "openapi/portal.json"],
    prefix: /^\/portal/,
    file: join(root, "portal/src/api/contract.ts"),
  },
  {
    contracts: ["openapi/operator.json"],
    prefix: /^\/ops/,
    file: join(root, "portal/src/console/api/contract.ts"),
  },
  {
    contracts: ["openapi/merchant.json"],
    prefix: /^$/,
    file: join(root, "sdk/src/contract.ts"),
  },
] as const;
export type Face = (typeof faces)[number];

interface Contract {
  paths: Record<string, unknown>;
  components: Record<string, Record<string, unknown>>;
}

/** A hash over the contracts. The generated file names it, so that a stale file is detected. */
export function contractHash({ contracts }: Face): string {
  const hash = createHash("sha256");
  for (const name of contracts) hash.update(readFileSync(join(root, name)));
  return hash.digest("hex").slice(0, 32);
}

/** The contracts of a face merged into one. Paths begin with /v1; the client adds the address before it. */
export function pagesContract({ contracts, prefix }: Face): unknown {
  const documents = contracts.map((name) => JSON.parse(readFileSync(join(root, name), "utf8")) as Contract);
  const paths: Record<string, unknown> = {};
  const components: Record<string, Record<string, unknown>> = {};
  for (const document of documents) {
    for (const [path, item] of Object.entries(document.paths)) paths[path.replace(prefix, "")] = item;
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

/** Whether an item is a header parameter, or a reference to one. */
function isHeader(item: unknown, components: Contract["components"]): boolean {
  if (typeof item !== "object" || item === null) return false;
  if ("in" in item && item.in === "header" && "name" in item) return true;
  const name = "$ref" in item ? /^#\/components\/parameters\/(.+)$/.exec(String(item.$ref))?.[1] : undefined;
  const parameter = name === undefined ? undefined : components.parameters?.[name];
  return typeof parameter === "object" && parameter !== null && "in" in parameter && parameter.in === "header";
}
