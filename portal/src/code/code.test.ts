// Goal: the code that the pages show is right as it stands, whatever the order says. Method: it is run, in each language that this machine has,
// against a real service: what arrives must be what the form said. Texts are chosen to break each language's quotes.
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestService, asOwner, startService } from "../../../gateway/test/kit.ts";
import { type SignedCall, addressOf, keyOf, quoted } from "./call.ts";
import { curlOf } from "./curl.ts";
import { goOf } from "./go.ts";
import { javaOf } from "./java.ts";
import { phpOf } from "./php.ts";
import { pythonOf } from "./python.ts";
import { typescriptOf } from "./typescript.ts";

const run = promisify(execFile);
const has = (program: string, argument = "--version"): boolean => spawnSync(program, [argument]).status === 0;

/** How a language's code is run: the file it stands in, and the program with its arguments. Go and Java take seconds to compile. */
const runners: Record<
  string,
  { codeOf: (call: SignedCall) => string; file: string; command: string[]; isHere: boolean }
> = {
  curl: {
    codeOf: curlOf,
    file: "call.sh",
    command: ["bash"],
    isHere: has("bash") && has("curl") && has("openssl", "version"),
  },
  TypeScript: { codeOf: typescriptOf, file: "call.ts", command: [process.execPath], isHere: true },
  Python: { codeOf: pythonOf, file: "call.py", command: ["python3"], isHere: has("python3") },
  // Debian's php-cli has no curl of its own.
  PHP: { codeOf: phpOf, file: "call.php", command: ["php"], isHere: has("php", "-rexit(+!extension_loaded('curl'));") },
  ...(process.env.GERBANG_TEST_COMPILED === "1" && {
    Go: { codeOf: goOf, file: "call.go", command: ["go", "run"], isHere: has("go", "version") },
    Java: { codeOf: javaOf, file: "Call.java", command: ["java"], isHere: has("java") },
  }),
};

const evil = [
  `'; echo "$GERBANG_SECRET" \`id\` $(id) \${GERBANG_SECRET} %s {0} #{1} \\ \\' \\" \\u0041 !x`,
  "\"\"\"\n\t'''  </script><img src=x onerror=alert(1)>",
  "Kopi \u202egnirts\u2066 \ufeff\u2028 ☕ \u{1f6d2} é",
];

let service: TestService;
let merchantId: string;
let place: string;
let reads = 0;
let credentials: { GERBANG_CLIENT_ID: string; GERBANG_SECRET: string };

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
  ({ merchantId } = await service.merchant());
  const made = await service.operate("POST", `/merchants/${merchantId}/credentials`, { environment: "sandbox" });
  credentials = { GERBANG_CLIENT_ID: made.client_id, GERBANG_SECRET: made.secret };
  place = mkdtempSync(join(tmpdir(), "gerbang-code-"));
  writeFileSync(join(place, "package.json"), '{"type":"module"}');
});
afterAll(async () => {
  rmSync(place, { recursive: true, force: true });
  await service.stop();
});

describe.each(Object.entries(runners))("the code in %s", (language, { codeOf, file, command, isHere }) => {
  const perform = async (call: SignedCall): Promise<string> => {
    writeFileSync(join(place, file), `${codeOf(call)}\n`);
    const [program = "", ...args] = command;
    const env = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", ...credentials };
    return (await run(program, [...args, join(place, file)], { cwd: place, env })).stdout;
  };

  test.runIf(isHere)("creates the payment that the form says, and again only the same", async () => {
    const referenceId = `order '${language}' ☕ 100%`;
    const body = {
      amount_minor: 7_500_000,
      currency: "IDR",
      payment_method: "qris",
      reference_id: referenceId,
      description: evil[0],
      customer: { name: evil[2], email: "sari@toko.example" },
      metadata: { "0": evil[1], "1": "", "a'b\"c$d\\e": evil[2], __proto: "x", ["__proto__"]: "y" },
    };
    const call: SignedCall = {
      method: "POST",
      url: addressOf(`${service.origin}/v1`, "/v1/payments"),
      body,
      key: keyOf("create", referenceId),
    };
    const first = await perform(call);
    expect(first).toContain('"status":"pending"');
    const rows = await asOwner(service.database, (root) =>
      root.query("select description, metadata, amount_minor::text from payments where reference_id = $1", [
        referenceId,
      ]),
    );
    const { description, metadata } = body;
    expect(rows.rows).toEqual([{ description, metadata, amount_minor: "7500000" }]);
    await new Promise((resolve) => setTimeout(resolve, 1_000 - (Date.now() % 1_000))); // another second, another signature
    const again = await perform(call);
    expect(again.replace(/^200/, "201")).toBe(first);
  });

  test.runIf(isHere)("reads", async () => {
    const url = addressOf(`${service.origin}/v1`, `/v1/payments?limit=${++reads}`); // two equal reads of one second would be one
    expect(await perform({ method: "GET", url })).toContain('"has_more"');
  });
});

test("code never holds a character that cannot be seen", () => {
  const body = { description: evil[2] };
  const shown = Object.values({ curlOf, typescriptOf, pythonOf, phpOf, goOf, javaOf }).map((codeOf) =>
    codeOf({ method: "POST", url: "https://pay.example/v1/payments", body, key: "create-1" }),
  );
  for (const code of shown) {
    expect(code).not.toMatch(/[\u202e\u2066\ufeff\u2028]/);
    expect(code).toMatch(/☕|\\u2615/);
  }
  expect(quoted("\u202e")).toBe(String.raw`"\u202e"`);
});

test("a call without fields sends an empty object", () => {
  expect(curlOf({ method: "POST", url: "https://pay.example/v1/x", body: {}, key: "create-1" })).toContain(
    "BODY='{}'\n",
  );
});

test("a key is ASCII, of a length that is allowed, and of one order", () => {
  expect(keyOf("create", "order-1042")).toBe("create-order-1042");
  for (const id of ["a", "☕".repeat(64), "a'b c!", "\ud800"]) expect(keyOf("create", id)).toMatch(/^[!-~]{8,255}$/);
  expect(keyOf("create", "a b")).not.toBe(keyOf("create", "a_b"));
});
