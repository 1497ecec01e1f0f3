// Goal: the house stays a house. Method: read every source file and hold its imports against the list of floors.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL(".", import.meta.url));

/** Rooms from the ground up. A room may import from itself and from floors below it, never from its own floor or above. */
const floors: string[][] = [
  ["ground"],
  ["store"],
  ["merchants"],
  ["ledger", "events"],
  ["commands"],
  ["acquirers"],
  ["risk", "routing"],
  ["auth"],
  ["idempotency"],
  ["http"],
  ["payments", "balances"],
  ["disputes"],
  ["refunds"],
  ["acquiring"],
  ["settlements"],
  ["webhooks"],
  ["sandbox", "operator"],
  ["diagnostics"],
  ["app.ts", "worker.ts", "contract.ts", "retention.ts"],
  ["cli"],
  ["main.ts"],
];
const floorOf = new Map(floors.flatMap((rooms, floor) => rooms.map((room): [string, number] => [room, floor])));

const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
  (name) => name.endsWith(".ts") && !name.endsWith(".test.ts"),
);

/** The folder a file is in; of one that only plugs rooms together, its own name. */
const roomOf = (file: string): string => file.split("/")[0] ?? "";
const rankOf = (file: string): number => floorOf.get(roomOf(file)) ?? Number.NaN;

/** Files that plug rooms together may use each other. */
const isTop = (file: string, target: string): boolean =>
  rankOf(file) === rankOf(target) && roomOf(file).endsWith(".ts");

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/\bfrom\s+"(\.[^"]+)"/g)].map(([, target]) =>
    relative(root, resolve(root, dirname(file), target ?? "")),
  );
}

test("every room stands on a floor", () => {
  expect(files.filter((file) => Number.isNaN(rankOf(file)))).toEqual([]);
  expect(files.length).toBeGreaterThan(40);
});

test("imports go down only", () => {
  const upward = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => roomOf(target) !== roomOf(file) && !(rankOf(target) < rankOf(file)) && !isTop(file, target))
      .map((target) => `${file} imports ${target}`),
  );
  expect(upward).toEqual([]);
});

test("imports form no circle", () => {
  const finished = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, path: string[]): void => {
    if (path.includes(file)) {
      circles.push([...path.slice(path.indexOf(file)), file].join(" > "));
      return;
    }
    if (finished.has(file)) return;
    for (const target of importsOf(file)) visit(target, [...path, file]);
    finished.add(file);
  };
  for (const file of files) visit(file, []);
  expect(circles).toEqual([]);
});

test("the environment and the real clock are read on the ground floor alone", () => {
  const forbidden = /\bprocess\.env\b|\bDate\.now\(|\bnew Date\(/;
  const found = files
    .filter((file) => roomOf(file) !== "ground")
    .filter((file) => forbidden.test(readFileSync(join(root, file), "utf8")));
  // The embedded server hands its environment on to the programs it starts; it reads nothing from it.
  expect(found).toEqual(["store/embedded.ts"]);
});

test("a room writes only its own tables", () => {
  const owners: Record<string, RegExp> = {
    merchants: /^(merchants|credentials|webhook_endpoints|books)$/,
    store: /^(settings_epoch|schema_migrations|health_probe)$/,
    ledger: /^(journals|entries|balances|book_heads)$/,
    events: /^(events|deliveries|delivery_attempts|event_horizons|retained_events)$/,
    payments: /^payments$/,
    acquiring: /^(acquirer_operations|reconciliation_exceptions|receipts)$/,
    refunds: /^refunds$/,
    disputes: /^(disputes|dispute_evidence)$/,
    settlements: /^(settlements|settlement_items|settlement_clocks)$/,
    auth: /^(used_nonces|used_read_nonces|rate_windows)$/,
    idempotency: /^idempotency_keys$/,
    routing: /^(routing_rule_sets|acquirer_states)$/,
    webhooks: /^misbehaviours$/,
    diagnostics: /^refused_requests$/,
    operator: /^operator_audit$/,
  };
  const foreign = files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    const writes =
      /\b(?:insert into|delete from|^\s*update|`update|"update) ([a-z_]+)|bulk(?:Insert|Update)(?:<\w+>)?\("([a-z_]+)"/gm;
    return [...text.matchAll(writes)]
      .map(([, a, b]) => a ?? b ?? "")
      .filter((table) => table !== "" && !owners[roomOf(file)]?.test(table))
      .map((table) => `${file} writes ${table}`);
  });
  expect(foreign).toEqual([]);
});

test("every file opens with what lives in it", () => {
  expect(files.filter((file) => !readFileSync(join(root, file), "utf8").startsWith("// "))).toEqual([]);
});
