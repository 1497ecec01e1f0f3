// Goal: a configuration that is open to others, or takes real money, without what makes that safe does not start; every problem is told at once.
// Method: tables of environments, and files with the modes that people give them.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readConfig } from "./config.ts";
import { isReadByOthers } from "./secret-files.ts";

const folder = mkdtempSync(join(tmpdir(), "gerbang-config-"));
afterAll(() => rmSync(folder, { recursive: true }));

const key = "3b1f6a0c9d2e47588f6b1c0d9e8a7f65443322110f0e0d0c1b2a394857667584";
const token = "op_9f2c71e04d5b8a6630c1e7f2";
const production = {
  NODE_ENV: "production",
  MASTER_KEY: key,
  OPERATOR_TOKEN: token,
  BASE_URL: "https://pay.example/v1",
  DATABASE_URL: "postgres://gerbang@db.example/gerbang?sslmode=verify-full",
};

/** The problems that reading tells, a line each; none when it is fine. */
function problems(variables: Record<string, string>, needs?: "database"): string[] {
  try {
    readConfig(variables, undefined, needs);
    return [];
  } catch (error) {
    return (error as Error).message
      .split("\n")
      .slice(1)
      .map((line) => line.replace(/^ +- /, ""));
  }
}

test.each([
  ["127.0.0.1", 0],
  ["127.9.9.9", 0],
  ["::1", 0],
  ["localhost", 0],
  ["0.0.0.0", 1],
  ["::", 1],
  ["192.168.1.5", 1],
  ["127.0.0.1.evil.example", 1],
  ["localhost.example", 1],
])("a development that listens on %s has %d problems", (HOST, count) => {
  expect(problems({ HOST })).toHaveLength(count);
  expect(problems({ METRICS_HOST: HOST })).toHaveLength(count);
  expect(problems({ OPS_HOST: HOST })).toHaveLength(count);
  expect(problems({ ...production, HOST, OPS_HOST: HOST })).toEqual([]);
});

test.each([
  "one.example,two.example:5432/gerbang?",
  "one.example:5432,two.example:5432/gerbang?",
  "one.example/gerbang?host=one.example,two.example&",
  "one.example/gerbang?application_name=g&host=/run/one%2C/run/two&",
])("a database at the two hosts of %s is refused, because the driver would look up one name", (hosts) => {
  const DATABASE_URL = `postgres://g@${hosts}sslmode=verify-full`;
  expect(problems({ ...production, DATABASE_URL })).toEqual(["DATABASE_URL: must be a postgres:// URL of one host"]);
});

test("the files for TLS in a database's address have to be there, and are named where they are not", () => {
  const ca = join(folder, "ca.pem");
  const url = (file: string): string =>
    `postgres://g:hidden@db.example/gerbang?sslmode=verify-full&sslrootcert=${file}`;
  writeFileSync(ca, "a certificate");
  expect(problems({ ...production, DATABASE_URL: url(ca), MIGRATION_DATABASE_URL: url(ca) })).toEqual([]);
  expect(problems({ ...production, DATABASE_URL: url(ca), MIGRATION_DATABASE_URL: url(`${ca}.not`) })).toEqual([
    `MIGRATION_DATABASE_URL: sslrootcert ${ca}.not cannot be read (ENOENT)`,
  ]);
});

test.each([
  ["smtp://mail.example", 0],
  ["smtps://sari%40toko.example:p%25ss@mail.example:465/", 0],
  ["smtp://mail.example?tls.rejectUnauthorized=false", 1],
  ["smtp://sari:p%ss@mail.example", 1],
  ["smtp:mail.example", 1],
  ["https://mail.example", 1],
])("the mail server %s has %d problems", (SMTP_URL, count) => {
  expect(problems({ SMTP_URL, SMTP_FROM: "portal@pay.example" })).toHaveLength(count);
});

test.each([
  [{}, { port: 8082, host: "127.0.0.1", trustProxy: 0 }],
  [
    { PORT: "9000", TRUST_PROXY: "1" },
    { port: 9002, host: "127.0.0.1", trustProxy: 1 },
  ],
  [{ PORT: "0" }, { port: 0, host: "127.0.0.1", trustProxy: 0 }],
  [
    { PORT: "0", OPS_PORT: "7000", OPS_HOST: "::1", TRUST_PROXY: "2", OPS_TRUST_PROXY: "0" },
    { port: 7000, host: "::1", trustProxy: 0 },
  ],
])("with %j operators listen at %j", (variables, operator) => {
  expect(readConfig(variables).operator).toEqual(operator);
});

test("where PORT + 2 is no port, the operators' has to be named", () => {
  expect(problems({ PORT: "65534" })).toEqual(["OPS_PORT: give one, PORT + 2 is no port number"]);
  expect(problems({ PORT: "65535", OPS_PORT: "7000" })).toEqual(["METRICS_PORT: give one, PORT + 1 is no port number"]);
  expect(problems({ PORT: "65534", OPS_PORT: "8082" })).toEqual([]);
});

test.each([
  [
    { PORT: "8080", OPS_PORT: "8081" },
    "METRICS_PORT (PORT + 1 unless given) and OPS_PORT (PORT + 2 unless given)",
    8081,
  ],
  [{ OPS_PORT: "8080" }, "PORT and OPS_PORT (PORT + 2 unless given)", 8080],
  [{ METRICS_PORT: "8080" }, "PORT and METRICS_PORT (PORT + 1 unless given)", 8080],
  [{ METRICS_PORT: "8082" }, "METRICS_PORT (PORT + 1 unless given) and OPS_PORT (PORT + 2 unless given)", 8082],
])("a port of two listeners is told with both: %j", (variables, both, port) => {
  expect(problems(variables)).toEqual([`${both}: each needs its own, not port ${port} of 127.0.0.1`]);
});

test("listeners may share a port of different addresses, and any that is free", () => {
  expect(problems({ OPS_PORT: "8081", METRICS_HOST: "127.0.0.2" })).toEqual([]);
  expect(problems({ PORT: "0", OPS_PORT: "0", METRICS_PORT: "0" })).toEqual([]);
});

test("real payments are taken in production alone", () => {
  expect(problems({ PRODUCTION_ACTIVE: "true" })).toEqual([
    expect.stringMatching(/^PRODUCTION_ACTIVE: .*NODE_ENV=production$/),
  ]);
  expect(problems({ ...production, PRODUCTION_ACTIVE: "true" })).toEqual([]);
});

describe("production refuses", () => {
  test.each([
    ["a page address without TLS", { BASE_URL: "http://pay.example/v1" }, /^BASE_URL: must be https/],
    ["a status page without TLS", { STATUS_URL: "http://status.example" }, /^STATUS_URL: must be https/],
    ["a token of one letter", { OPERATOR_TOKEN: "a".repeat(40) }, /^OPERATOR_TOKEN: is too easy/],
    ["a token that repeats itself", { OPERATOR_TOKEN: "changeme1234".repeat(3) }, /^OPERATOR_TOKEN: is too easy/],
    [
      "a viewer's token of few letters",
      { OPERATOR_VIEWER_TOKEN: "abcabcabcabdabcabcabcabd" },
      /^OPERATOR_VIEWER_TOKEN: is too easy/,
    ],
    ["a key of zeros", { MASTER_KEY: "0".repeat(64) }, /^MASTER_KEY: is too easy/],
    ["a key that repeats itself", { MASTER_KEY: key.slice(0, 32).repeat(2) }, /^MASTER_KEY: is too easy/],
    ["TLS without certificates", { NODE_TLS_REJECT_UNAUTHORIZED: "0" }, /^NODE_TLS_REJECT_UNAUTHORIZED: certificates/],
    [
      "a database whose certificate nobody checks",
      { DATABASE_URL: "postgres://u@db/x?sslmode=no-verify" },
      /^DATABASE_URL: sslmode=no-verify/,
    ],
    [
      "hosts that webhooks may reach anyway",
      { WEBHOOK_ALLOW_HOSTS: "10.0.0.1" },
      /^WEBHOOK_ALLOW_HOSTS: is for development/,
    ],
  ])("%s", (_what, change, problem) => {
    expect(problems({ ...production, ...change })).toEqual([expect.stringMatching(problem)]);
  });

  test.each([
    ["postgres://u@127.0.0.1/x", []],
    ["postgres://u@[::1]:5432/x", []],
    ["postgres://u@localhost/x?host=%2Fvar%2Frun%2Fpostgresql", []],
    ["postgres://u@db/x?sslmode=verify-full&sslrootcert=/dev/null", []],
    ["postgres://u@db/x?sslmode=disable", []],
    ["postgres://u@db/x", ["db"]],
    ["postgres://u@db/x?ssl=true", ["db"]],
    ["postgres://u@db/x?sslmode=require", ["db"]],
    ["postgres://u@db/x?sslmode=verify-ca", ["db"]],
    ["postgres://u@db/x?uselibpqcompat=true&sslmode=prefer", ["db"]],
    ["postgres://u@localhost/x?host=10.0.0.1", ["10.0.0.1"]],
  ])("TLS that nobody decided on: %s is another machine's for %j", (address, hosts) => {
    const expected = (name: string) =>
      hosts.map((host) =>
        expect.stringMatching(`^${name}: its host ${host} is another machine: use sslmode=verify-full`),
      );
    expect(problems({ ...production, DATABASE_URL: address })).toEqual(expected("DATABASE_URL"));
    expect(problems({ ...production, MIGRATION_DATABASE_URL: address })).toEqual(expected("MIGRATION_DATABASE_URL"));
  });

  test("nothing in a good configuration, and tells everything that is missing at once", () => {
    expect(problems(production)).toEqual([]);
    expect(problems({ NODE_ENV: "production" })).toHaveLength(4);
  });

  test("no command that only reads the database for want of the service's secrets", () => {
    const { NODE_ENV, DATABASE_URL } = production;
    expect(problems({ NODE_ENV, DATABASE_URL }, "database")).toEqual([]);
    expect(problems({ NODE_ENV }, "database")).toEqual([expect.stringMatching(/^DATABASE_URL/)]);
  });
});

describe("secrets in files", () => {
  const file = (name: string, text: string, mode = 0o400): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    chmodSync(path, mode);
    return path;
  };

  test("stand in for variables, without the end of their line", () => {
    const { MASTER_KEY, DATABASE_URL, ...rest } = production;
    const config = readConfig({
      ...rest,
      MASTER_KEY_FILE: file("key", `${MASTER_KEY}\n`),
      DATABASE_URL_FILE: file("database", `${DATABASE_URL}\r\n`),
    });
    expect([config.masterKey, config.databaseUrl]).toEqual([MASTER_KEY, DATABASE_URL]);
  });

  test.each([
    ["others can read", () => file("open", token, 0o444), /can be read by others/],
    ["a group can read", () => file("group", token, 0o440), /can be read by others/],
    ["is empty", () => file("empty", "\n"), /is empty/],
    ["is not there", () => join(folder, "none"), /cannot be read \(ENOENT\)/],
  ])("a file that %s is a problem that shows nothing of it", (_what, make, problem) => {
    const { OPERATOR_TOKEN, ...rest } = production;
    const told = problems({ ...rest, OPERATOR_TOKEN_FILE: make() });
    expect(told.join("\n")).toMatch(problem);
    expect(told.join("\n")).not.toContain(OPERATOR_TOKEN);
    expect(told).toHaveLength(1);
  });

  test("authorities that Node could not read stop production, where it would only warn", () => {
    const NODE_EXTRA_CA_CERTS = join(folder, "none.pem");
    expect(problems({ ...production, NODE_EXTRA_CA_CERTS })).toEqual([
      `NODE_EXTRA_CA_CERTS: ${NODE_EXTRA_CA_CERTS} cannot be read (ENOENT)`,
    ]);
    expect(problems({ ...production, NODE_EXTRA_CA_CERTS: file("ca.pem", "x") })).toEqual([]);
  });

  test.each([
    // mode, whose file, who we are: is it open to others?
    [0o400, 1000, 1000, false],
    [0o600, 1000, 1000, false],
    [0o440, 1000, 1000, true], // a group of people
    [0o440, 0, 1000, false], // as systemd and Kubernetes hand secrets over
    [0o460, 0, 1000, true],
    [0o444, 0, 1000, true],
    [0o440, 0, 0, true], // root needs no group to read it
    [0o400, 0, 0, false],
  ])("mode %o of user %d, read by user %d: open to others is %s", (mode, uid, own, open) => {
    expect(isReadByOthers({ mode, uid }, own)).toBe(open);
  });

  test("both a variable and its file are one too many", () => {
    expect(problems({ ...production, MASTER_KEY_FILE: file("key2", key) })).toEqual([
      "MASTER_KEY and MASTER_KEY_FILE: give one of them",
    ]);
  });
});

test.each([
  "https://user:pw@pay.example/v1",
  "https://pay.example/v1?x=/v1",
  "https://pay.example/v1#/v1",
  "https://pay.example/a b/v1",
  "https://pay.example/%2e%2e/v1",
])("%s is no address that payers are sent to", (BASE_URL) => {
  expect(problems({ BASE_URL })).toEqual(["BASE_URL: must be an address alone, like https://pay.example.com/v1"]);
});

test.each([
  ["pay.example.com/v1", "must be an http or https URL"],
  ["https://pay.example.com", "must end in /v1"],
])("of the base URL %s one mistake is told, once", (BASE_URL, mistake) => {
  expect(problems({ BASE_URL })).toEqual([`BASE_URL: ${mistake}`]);
});

test.each(["UNAUTHENTICATED_LIMIT_PER_MINUTE", "CONNECTIONS_PER_ADDRESS"])(
  "%s of 0 would keep everybody out",
  (name) => {
    expect(problems({ [name]: "0" })).toEqual([`${name}: must be 1 or more`]);
  },
);

test("addresses are kept as headers and links carry them, whatever letters their names have", () => {
  const read = readConfig({ BASE_URL: "https://оплата.example:443/bayar/v1", STATUS_URL: "https://статус.example" });
  expect(read.baseUrl).toBe("https://xn--80aa5alfu.example/bayar/v1");
  expect(read.statusUrl).toMatch(/^https:\/\/xn--[\w-]+\.example\/$/);
});
