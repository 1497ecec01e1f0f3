// Goal: what is published works where merchants are. Method: packs the client, installs it into an empty project, checks its types there, and calls
// the service with the Node of this machine and with ours.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { allPages } from "../../docs/site/site.ts";
import { type TestService, startService } from "../../gateway/test/kit.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const COMPRESSED_MAX = 15_000;

/** The first program of this name on the path that belongs to no project, as the machine brings it. */
const ofTheMachine = (name: string): string[] =>
  (process.env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => !folder.includes("node_modules"))
    .map((folder) => join(folder, name))
    .filter((path) => existsSync(path))
    .slice(0, 1);

let service: TestService;
let project: string;
let env: Record<string, string>;

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), "gerbang-shop-"));
  service = await startService({ roles: ["api"] });
  const { client } = await service.merchant();
  const { client_id, secret, base_url } = client.credentials;
  env = { GERBANG_CLIENT_ID: client_id, GERBANG_SECRET: secret, GERBANG_BASE_URL: base_url };
  const packed = await run("npm", ["pack", "--json", "--pack-destination", project], { cwd: join(root, "sdk") });
  const [{ filename }] = JSON.parse(packed.stdout.slice(packed.stdout.indexOf("["))) as [{ filename: string }];
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "shop", private: true, type: "module" }));
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", `./${filename}`], { cwd: project });
});
afterAll(async () => {
  rmSync(project, { recursive: true, force: true });
  await service.stop();
});

const installed = (): string => join(project, "node_modules/@gerbang/sdk");

test("its pages lead to files that it brings, and to pages that the documentation of every gateway has", () => {
  const pages = new Set(allPages().map(({ id }) => id));
  for (const page of ["README.md", "vectors/README.md"]) {
    const text = readFileSync(join(installed(), page), "utf8");
    for (const [, target = ""] of text.matchAll(/\]\((?!https?:)([^)#]+)/g))
      expect(existsSync(join(installed(), dirname(page), target)), `${page}: ${target}`).toBe(true);
    for (const [, id = ""] of text.matchAll(/`\/docs\/([\w-]+)/g)) expect(pages, page).toContain(id);
  }
});

test("it brings nothing else, and its code is under 15 KB compressed", () => {
  expect(readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["@gerbang"]);
  const code = new Map<string, string>();
  const follow = (name: string): void => {
    if (code.has(name)) return;
    const text = readFileSync(join(installed(), "dist", name), "utf8");
    code.set(name, text);
    for (const [, next = ""] of text.matchAll(/from ?"\.\/([\w.-]+)"/g)) follow(next);
  };
  follow("index.js");
  expect(code.size).toBeGreaterThan(10);
  for (const [name, text] of code)
    expect(text, name).not.toMatch(/\bBuffer\b|\brequire\(|\b(?:from|import)\b[\s(]*["']node:/);
  expect(gzipSync([...code.values()].join(""), { level: 9 }).length).toBeLessThan(COMPRESSED_MAX);
});

test.each([
  ["wrong", "GerbangError: The signature does not fit"],
  ["", "GerbangError: secret is missing: give it, or set GERBANG_SECRET."],
])(
  "an error that nobody catches is printed below a short line, not below the whole file: the secret is %j",
  async (secret, said) => {
    const program = `import Gerbang from "@gerbang/sdk"; await new Gerbang().balances.get();`;
    writeFileSync(join(project, "refused.mjs"), program);
    const refused = run(process.execPath, ["refused.mjs"], { cwd: project, env: { ...env, GERBANG_SECRET: secret } });
    const { stderr } = (await refused.catch((error: unknown) => error)) as { stderr: string };
    expect(stderr).toContain(said);
    expect(stderr.length).toBeLessThan(2_000);
  },
);

const shop = (referenceId: string): string => `
import Gerbang, { GerbangError } from "@gerbang/sdk";
import { handler, sign, unwrap } from "@gerbang/sdk/webhooks";

const gerbang = new Gerbang();
const payment = await gerbang.payments.create({
  amount_minor: 150_000,
  currency: "IDR",
  payment_method: "qris",
  reference_id: "${referenceId}",
});
await gerbang.sandbox.payments.simulate(payment.reference, "succeeded");
const { status } = await gerbang.payments.waitFor(payment.reference, "succeeded");
const { body, headers } = await sign({ secret: "whsec_c2VjcmV0", event: { id: "evt_1", type: "payment.succeeded" } });
const event = await unwrap(body, headers, "whsec_c2VjcmV0");
let code: string = "none";
// A variable of the environment may be unset, as during a rotation.
const variables = [0, 1].map((place) => ["whsec_c2VjcmV0"].at(place));
handler({ secrets: variables[1], on: () => undefined });
await unwrap(body, headers, variables);
// What is told apart by a type has the fields of that type.
if (payment.instructions?.type === "qr_string") {
  const qr: string = payment.instructions.qr_string;
  if (qr === "") throw new Error("no QR");
}
if (event.type === "dispute.opened") {
  const due: string = event.data.evidence_due_at;
  console.log(due);
}
try {
  await gerbang.refunds.create({ payment_reference: payment.reference, amount_minor: 150_001 });
} catch (error) {
  if (error instanceof GerbangError && error.is("REFUND_EXCEEDS_PAYMENT")) {
    const left: number = error.details.remaining_refundable_minor;
    code = error.code + " " + left;
  }
}
console.log(JSON.stringify({ status, instructions: payment.instructions?.type, event: event.type, code }));
`;
const expected = {
  status: "succeeded",
  instructions: "qr_string",
  event: "payment.succeeded",
  code: "REFUND_EXCEEDS_PAYMENT 150000",
};

test.each([["ours", process.execPath], ...ofTheMachine("node").map((path) => ["the machine's", path])])(
  "a shop on %s Node",
  async (_, node = "") => {
    const { stdout: version } = await run(node, ["--version"]);
    if (Number(version.slice(1).split(".")[0]) < 20) return expect(version).toMatch(/^v1\d/); // too old for any of this
    const file = join(project, `shop-${version.trim()}.js`);
    writeFileSync(file, shop(`order-${version.trim()}`).replaceAll(/: (string|number) =/g, " ="));
    const { stdout } = await run(node, [file], { cwd: project, env });
    expect(JSON.parse(stdout)).toEqual(expected);
  },
);

for (const [name, args] of [
  ["bun", ["run"]],
  ["deno", ["run", "--allow-all"]],
] as const) {
  const [program = ""] = ofTheMachine(name);
  test.skipIf(program === "")(`a shop on the machine's ${name}`, async () => {
    const file = join(project, `shop-${name}.ts`);
    writeFileSync(file, shop(`order-${name}`));
    const { stdout } = await run(program, [...args, file], { cwd: project, env: { ...env, HOME: project } });
    expect(JSON.parse(stdout)).toEqual(expected);
  });
}

test("it runs where there is no process", async () => {
  const { GERBANG_CLIENT_ID: clientId, GERBANG_SECRET: secret, GERBANG_BASE_URL: baseUrl } = env;
  const file = join(project, "worker.js");
  writeFileSync(
    file,
    `const print = console.log;
for (const name of ["process", "setImmediate", "global"]) Object.defineProperty(globalThis, name, { value: undefined });
const { default: Gerbang } = await import("@gerbang/sdk");
const { handler, sign } = await import("@gerbang/sdk/webhooks");
const gerbang = new Gerbang(${JSON.stringify({ clientId, secret, baseUrl })});
const { data } = await gerbang.payments.list({ limit: 1 });
const receive = handler({ secrets: "whsec_c2VjcmV0", on: () => undefined });
const { body, headers } = await sign({ secret: "whsec_c2VjcmV0", event: { id: "evt_1", type: "payment.succeeded" } });
const answer = await receive(new Request("https://shop.example", { method: "POST", body, headers }));
print(JSON.stringify([Array.isArray(data), answer.status]));`,
  );
  const { stdout } = await run(process.execPath, [file], { cwd: project, env: {} });
  expect(JSON.parse(stdout)).toEqual([true, 200]);
});

test.each([
  ["nodenext", "nodenext"],
  ["esnext", "bundler"],
])("its types hold in a project of module %s, resolved by %s", async (module, moduleResolution) => {
  const folder = join(project, module);
  mkdirSync(folder);
  const compilerOptions = {
    module,
    moduleResolution,
    target: "es2022",
    lib: ["es2022", "dom"],
    types: [],
    strict: true,
    noEmit: true,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["shop.ts"] }));
  writeFileSync(join(folder, "shop.ts"), shop("order"));
  await run(join(root, "node_modules/.bin/tsc"), ["-p", folder]).catch((error: { stdout: string }) => {
    throw new Error(error.stdout);
  });
  // And they are no `any`: what is wrong is refused.
  writeFileSync(
    join(folder, "shop.ts"),
    shop("order").replace('payment_method: "qris"', 'payment_method: "cash"').replace("{ status }", "{ colour }"),
  );
  const wrong = await run(join(root, "node_modules/.bin/tsc"), ["-p", folder]).catch(
    (error: { stdout: string }) => error,
  );
  expect(wrong.stdout).toMatch(/TS2322[\s\S]*"cash"[\s\S]*TS2339[\s\S]*colour/);
});
