// Goal: the architecture holds: rooms use the rooms below them, write their own tables, and keep their SQL in files of its own.
// Method: read every source file and hold its imports, its SQL and its first lines against the rules.
import { readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { holdsSql, writtenTables } from "../test/sql-in-source.ts";

const root = fileURLToPath(new URL(".", import.meta.url));

/** Rooms from the ground up. A room may import from itself and from floors below it, never from its own floor or above. */
const floors: string[][] = [
  ["ground"],
  ["store"],
  ["merchants"],
  ["ledger", "events", "people"],
  ["commands"],
  ["acquirers"],
  ["providers"],
  ["risk", "routing"],
  ["auth"],
  ["idempotency"],
  ["http"],
  ["payments", "balances"],
  ["links", "disputes"],
  ["refunds"],
  ["acquiring"],
  ["settlements"],
  ["webhooks"],
  ["sandbox", "checkout", "requests", "insights", "telemetry", "status", "docs"],
  ["diagnostics", "story", "search", "access"],
  ["operator"],
  ["portal"],
  [
    "foundation.ts",
    "retention.ts",
    "sealed-columns.ts",
    "worker.ts",
    "rooms.ts",
    "surfaces.ts",
    "operator-listener.ts",
    "public-listener.ts",
    "contract.ts",
    "app.ts",
  ],
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

const textOf = (file: string): string => readFileSync(join(root, file), "utf8");

function importsIn(file: string, code: string): string[] {
  return [...code.matchAll(/\bfrom\s+"(\.[^"]+)"/g)].map(([, target]) =>
    relative(root, resolve(root, dirname(file), target ?? "")),
  );
}

const importsOf = (file: string): string[] => importsIn(file, textOf(file));

test("every room stands on a floor", () => {
  expect(files.filter((file) => Number.isNaN(rankOf(file)))).toEqual([]);
  expect(files.length).toBeGreaterThan(40);
});

test("the README's map names every room", () => {
  const readme = readFileSync(join(root, "../../README.md"), "utf8");
  const rooms = floors.flat().filter((room) => !room.endsWith(".ts"));
  expect(rooms.filter((room) => !readme.includes(`\`${room}\` `) && !readme.includes(`\`${room}\`,`))).toEqual([]);
});

test("imports go down only", () => {
  const upward = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => roomOf(target) !== roomOf(file) && !(rankOf(target) < rankOf(file)) && !isTop(file, target))
      .map((target) => `${file} imports ${target}`),
  );
  expect(upward).toEqual([]);
});

/** Every source file of the house, by its path: workspaces import each other's files, too. */
function wholeHouse(): Map<string, string> {
  const house = join(root, "../..");
  const folders = ["gateway/src", "gateway/test", "portal/src", "cli", "docs/site", "e2e", "soak", "bench", "sdk"];
  const names = folders.flatMap((folder) =>
    readdirSync(join(house, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name) && !/(?:^|\/)(?:dist|node_modules)\//.test(name))
      .map((name) => join(folder, name)),
  );
  return new Map([...names, "vitest.config.ts"].map((name) => [name, readFileSync(join(house, name), "utf8")]));
}

/** The circles that imports form among `texts` by path, each from the file that was met first. What is loaded later, by `import()`, closes none. */
function circlesOf(texts: ReadonlyMap<string, string>): string[] {
  const finished = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, path: string[]): void => {
    if (path.includes(file)) {
      circles.push([...path.slice(path.indexOf(file)), file].join(" > "));
      return;
    }
    if (finished.has(file)) return;
    for (const [, target = ""] of (texts.get(file) ?? "").matchAll(/^(?:import|\} from|.*\bfrom)\s+"(\.[^"]+)"/gm))
      visit(join(dirname(file), target), [...path, file]);
    finished.add(file);
  };
  for (const file of texts.keys()) visit(file, []);
  return circles;
}

test("imports form no circle", () => {
  expect(circlesOf(wholeHouse())).toEqual([]);

  const planted = new Map([
    ["a/page.tsx", 'import { Part } from "./page/part.tsx";\n'],
    ["a/page/part.tsx", 'import {\n  type Whole,\n} from "../page.tsx";\n'],
    ["a/table.ts", 'const run = async () => (await import("./later.ts")).run();\n'],
    ["a/later.ts", 'import type { Values } from "./table.ts";\n'],
  ]);
  expect(circlesOf(planted)).toEqual(["a/page.tsx > a/page/part.tsx > a/page.tsx"]);
});

/** What programs in other folders, or a browser, load by a name that they put together, or as a whole. */
const loadedByName = /^(?:portal\/(?:types|builds)|docs\/site\/browser|sdk\/(?:src|rules))\b|(?:^|\/)contract\.ts$/;

/** The names that a file exports and no other file imports, among `texts` by path. */
function unusedExports(texts: ReadonlyMap<string, string>): string[] {
  const imported = new Set<string>();
  for (const [file, text] of texts) {
    const at = (target = ""): string => join(dirname(file), target);
    for (const [, names = "", target] of text.matchAll(/\{([^{}]*)\}\s+from\s+"(\.[^"]+)"/g))
      for (const [, name = ""] of names.matchAll(/(?:^|,)\s*(?:type\s)?(\w+)/g)) imported.add(`${at(target)} ${name}`);
    for (const [, target] of text.matchAll(/(?:\*(?: as \w+)? from |\bimport\()\s*"(\.[^"]+)"/g))
      imported.add(at(target));
  }
  return [...texts].flatMap(([file, text]) =>
    imported.has(file) || loadedByName.test(file) || file.endsWith(".test.ts")
      ? []
      : [...text.matchAll(/^export (?:abstract |async )*(?:function\*?|const|let|class|interface|type) (\w+)/gm)]
          .map(([, name]) => `${file} ${name}`)
          .filter((one) => !imported.has(one)),
  );
}

test("what a file exports, another file imports", () => {
  const texts = wholeHouse();
  expect(texts.size).toBeGreaterThan(1_500);
  expect(unusedExports(texts)).toEqual([]);

  const planted = new Map([
    ["a/one.ts", "export const used = 1;\nexport type Kept = 1;\nexport async function alone() {}\nalone();\n"],
    ["a/two.ts", 'import { type Kept, used as renamed } from "./one.ts";\nexport interface Whole {}\n'],
    ["b/three.test.ts", 'import * as whole from "../a/two.ts";\nexport const ofATest = 1;\n'],
  ]);
  expect(unusedExports(planted)).toEqual(["a/one.ts alone"]);
});

test("the environment and the real clock are read on the ground floor alone", () => {
  const forbidden = /\bprocess\.env\b|\bDate\.now\(|\bnew Date\(/;
  const found = files.filter((file) => roomOf(file) !== "ground").filter((file) => forbidden.test(textOf(file)));
  expect(found).toEqual([]);
});

test("no program asks Intl about currencies: it gives IDR no decimals", () => {
  const asks = /style:\s*["']currency["']|currencyDisplay|supportedValuesOf\(["']currency["']\)/;
  const found = ["gateway/src", "portal/src", "docs/site", "sdk/src", "cli"].flatMap((folder) => {
    const names = readdirSync(join(root, "../..", folder), { recursive: true, encoding: "utf8" });
    return names
      .filter((name) => /\.(tsx?|js)$/.test(name) && !/\.test\.ts$|(^|\/)(dist|node_modules)\//.test(name))
      .map((name) => `${folder}/${name}`);
  });
  expect(found.length).toBeGreaterThan(600);
  expect(found.filter((name) => asks.test(readFileSync(join(root, "../..", name), "utf8")))).toEqual([]);
});

/** Which tables each room writes. */
const owners: Record<string, RegExp> = {
  merchants: /^(merchants|merchant_profiles|credentials|credential_uses|webhook_endpoints|books)$/,
  store: /^(settings_epoch|schema_migrations|health_probe)$/,
  ledger: /^(journals|entries|balances|book_heads)$/,
  events: /^(events|deliveries|delivery_attempts|retention_watermarks|retained_events)$/,
  people:
    /^(persons|memberships|recovery_codes|passkeys|passkey_challenges|sign_in_links|device_codes|sessions|invitations|operators|operator_invitations|sign_in_failures|people_audit)$/,
  payments: /^(payments|payer_keys)$/,
  acquiring:
    /^(acquirer_operations|acquirer_messages|acquirer_disputes|reconciliation_exceptions|receipts|stray_messages)$/,
  links: /^payment_links$/,
  refunds: /^refunds$/,
  disputes: /^(disputes|dispute_evidence|evidence_drafts|evidence_files|evidence_pieces)$/,
  settlements: /^(settlements|settlement_items|settlement_clocks)$/,
  auth: /^(used_nonces|used_read_nonces|rate_windows)$/,
  idempotency: /^(idempotency_keys|client_audit)$/,
  routing: /^(routing_rule_sets|routing_activations|acquirer_states|acquirer_costs|payment_splits)$/,
  webhooks: /^injected_faults$/,
  diagnostics: /^refused_requests$/,
  operator:
    /^(operator_audit|operator_refusals|operator_tokens|operator_token_uses|operator_approvals|operator_approval_policies|book_verifications)$/,
  insights: /^(payment_quarters|payment_totals|roll_ups)$/,
  telemetry: /^(telemetry_processes|telemetry_samples|telemetry_acquirers|telemetry_circuits)$/,
  requests: /^(request_log|request_log_gaps)$/,
  status: /^(status_minutes|status_days|incidents|incident_updates)$/,
};

/** Tables whose names the program puts together. */
const namedByProgram = [
  "auth/nonces.sql.ts writes ${tableOf(kind, slot)}", // the slots of used_nonces and used_read_nonces
  "store/retention.ts writes ${table}", // deleteOldest: the room that calls it names the table, and is seen there
  "store/seals.sql.ts writes ${table}", // the rooms that have sealed columns name them
  "store/table.ts writes ${table}", // bulkInsert: the room that calls it names the table, and is seen there
  "store/table.ts writes ${table}", // bulkUpdate: the same
  "telemetry/telemetry.sql.ts writes ${table}", // samples of processes and of acquirers are forgotten alike
];

function foreignWrites(file: string, code: string): string[] {
  return writtenTables(code)
    .filter((table) => !owners[roomOf(file)]?.test(table))
    .map((table) => `${file} writes ${table}`);
}

test("a room writes only its own tables", () => {
  expect(files.flatMap((file) => foreignWrites(file, textOf(file)))).toEqual(namedByProgram);
});

test("the guard of tables sees every way to write", () => {
  expect(files.flatMap((file) => writtenTables(textOf(file))).length).toBeGreaterThanOrEqual(75);

  const planted = {
    "an update in a CTE": "const text = `with taken as (\n  update payments p\n  set status = 'paid'\n)\nselect 1`;",
    "an update of another case": 'const text = "UPDATE payments AS p SET status = $1";',
    "a bulk update": 'const table = { update: bulkUpdate<Payment>("payments", keys, changes) };',
    "a bulk insert": 'const insert = bulkInsert("payments", columns);',
    "a deletion of what is old":
      'const old = deleteOldest("payments", { column: "created_at", keptSeconds: 60 }, realNow);',
    "a delete with using": "query({ text: `delete from payments p using old where p.payment_id = old.payment_id` });",
    "an insert on a line of its own": "const text = `${head}\ninsert into payments (payment_id)\n${rows}`;",
    "a merge": "const text = `merge into payments using v on true when matched then delete`;",
    "a truncate": 'const text = "truncate table payments";',
    "strings that are added up": 'const text = "update " + "payments" + " set status = $1";',
  };
  for (const [what, code] of Object.entries(planted)) {
    expect(foreignWrites("refunds/refunds.sql.ts", code), what).toEqual(["refunds/refunds.sql.ts writes payments"]);
    expect(foreignWrites("payments/payments.sql.ts", code), what).toEqual([]);
  }
  expect(foreignWrites("refunds/refunds.ts", "const text = `update ${name} set a = 1`;")).toEqual([
    "refunds/refunds.ts writes ${name}",
  ]);

  const innocent = `// update payments set status = 'paid'
    set.update(payments, paid);
    const text = "select * from payments for update";
    const other = \`insert into refunds (refund_id) values ($1) on conflict do update set status = $2 -- delete from payments\`;`;
  expect(foreignWrites("refunds/refunds.sql.ts", innocent)).toEqual([]);
});

/** What is wrong with the first comment of a file, if anything. */
function headFault(file: string, code: string): string | undefined {
  const lines = code.split("\n");
  const end = lines.findIndex((line) => !line.startsWith("//"));
  const head = lines.slice(0, end < 0 ? lines.length : end).map((line) => line.slice(2).trim());
  const [first = ""] = head;
  const letters = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]/g, "");
  if (head.length === 0) return "has no comment on its first line";
  if (head.length > 6) return `has ${head.length} lines before the imports`;
  if (!/^[A-Z]/.test(first)) return "does not begin with a capital letter";
  if (first.split(/\s+/).length < 5) return "has fewer than five words";
  if (letters(first) === letters(basename(file, ".ts"))) return "repeats the name of the file";
  if (!head.join(" ").endsWith(".")) return "does not end with a full stop";
  return undefined;
}

test("every file opens with a sentence about what lives in it", () => {
  const faults = files.flatMap((file) => {
    const fault = headFault(file, textOf(file));
    return fault === undefined ? [] : [`${file} ${fault}`];
  });
  expect(faults).toEqual([]);
});

test("the guard of first lines knows a sentence from a label", () => {
  const fault = (head: string): string | undefined =>
    headFault("payments/how-a-payment-is-made.ts", `${head}\nimport "x";\n`);
  expect(fault("// Payments by reference: what they are.")).toBeUndefined();
  expect(fault("")).toBe("has no comment on its first line");
  expect(fault("/* Payments by reference: what they are. */")).toBe("has no comment on its first line");
  expect(fault("// payments by reference: what they are.")).toBe("does not begin with a capital letter");
  expect(fault("// All SQL of payments.")).toBe("has fewer than five words");
  expect(fault("// How a payment is made")).toBe("repeats the name of the file");
  expect(fault("// Payments by reference: what they are")).toBe("does not end with a full stop");
  expect(fault("// Payments by reference: what they are.\n".repeat(7).trim())).toBe("has 7 lines before the imports");
});

/** What shows that a SQL file does more than hold statements and the mapping of rows, if anything. */
function sqlFileFault(file: string, code: string): string | undefined {
  const imported = importsIn(file, code).find(
    (target) =>
      target.startsWith("http/") ||
      /\.(?:routes|schema)\.ts$/.test(target) ||
      // Another SQL file is held by the same rule.
      /^store\/(?!(?:arrays|commit-order|database|lock-order|retention|table|[\w-]+\.sql)\.ts$)/.test(target),
  );
  if (imported !== undefined) return `imports ${imported}`;
  const word =
    /\bfrom "(?:node:|undici)|^(?:export )?(?:abstract )?class \w+|\bawait\b|\bprocess\.|\bset(?:Timeout|Interval|Immediate)\(|\bfetch\(|\.(?:query|transaction)\(/m;
  const [found] = word.exec(code) ?? [];
  return found === undefined ? undefined : `has ${found.trim()}`;
}

test("a SQL file holds statements and the mapping of rows: it runs nothing and remembers nothing", () => {
  const faults = files
    .filter((file) => file.endsWith(".sql.ts"))
    .flatMap((file) => {
      const fault = sqlFileFault(file, textOf(file));
      return fault === undefined ? [] : [`${file} ${fault}`];
    });
  expect(faults).toEqual([]);
});

test("the guard of SQL files knows what runs and what remembers", () => {
  const fault = (code: string): string | undefined => sqlFileFault("payments/payments.sql.ts", code);
  expect(fault('import { loadByKey } from "../store/table.ts";\nconst text = "select 1";')).toBeUndefined();
  expect(fault('import { reply } from "../http/reply.ts";')).toBe("imports http/reply.ts");
  expect(fault('import { paths } from "./payments.routes.ts";')).toBe("imports payments/payments.routes.ts");
  expect(fault('import { Lane } from "../store/lane.ts";')).toBe("imports store/lane.ts");
  expect(fault('import { DatabaseClock } from "../store/database-clock.ts";')).toBe("imports store/database-clock.ts");
  expect(fault('import { connect } from "node:net";')).toBe('has from "node:');
  expect(fault("export class Payments {}")).toBe("has export class Payments");
  expect(fault("const rows = database.query(selectPayments);")).toBe("has .query(");
  expect(fault("setInterval(sweep, 1000);")).toBe("has setInterval(");
  expect(fault("const url = process.env.DATABASE_URL;")).toBe("has process.");
});

/** Files with SQL outside `*.sql.ts` and the store. May only become fewer. */
const sqlElsewhere = [
  "merchants/books.ts", // the tables of the books' clocks, which nearly every room imports from there
];

test("SQL is in SQL files and in the store alone", () => {
  const found = files.filter((file) => !file.endsWith(".sql.ts") && roomOf(file) !== "store" && holdsSql(textOf(file)));
  expect(found).toEqual(sqlElsewhere);
  expect(files.filter((file) => file.endsWith(".sql.ts") && holdsSql(textOf(file))).length).toBeGreaterThan(20);
});

/** Files whose work waits its turn by an advisory lock, which a pooler of transactions keeps for one transaction only. No money moves in them. */
const advisoryLocks = [
  "insights/roll-up.sql.ts",
  "people/invitations.sql.ts",
  "people/operators.sql.ts",
  "status/incidents.sql.ts",
  "store/embedded.ts", // of a session, of the server that this service starts by itself
  "store/migrations.ts",
  "telemetry/telemetry.sql.ts",
];

test("the money path keeps nothing in a session: no advisory lock, no temporary table, no LISTEN", () => {
  const keeps =
    /pg_(?:try_)?advisory|create (?:local |global )?temp|\bnotify \w+\b.*;|["`]\s*listen \w+["`]|\bset session\b/i;
  expect(files.filter((file) => keeps.test(textOf(file))).toSorted()).toEqual(advisoryLocks);
});

test("the guard of SQL tells a statement from words", () => {
  expect(holdsSql("const text = `with due as (\n  select *\n  from payments\n)\nselect count(*) from due`;")).toBe(
    true,
  );
  expect(holdsSql('query({ text: "select from payments limit 1" });')).toBe(true);
  expect(holdsSql('query({ text: "delete from payments" });')).toBe(true);
  expect(holdsSql('const update = bulkUpdate("payments", keys, changes);')).toBe(true);
  expect(holdsSql('// select * from payments\nconst text = "You may select one from the list.";')).toBe(false);
});
