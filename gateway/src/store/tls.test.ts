// Goal: with `sslmode=verify-full` the service speaks to PostgreSQL by TLS, to the right server alone. Method: a server with a certificate of an
// authority made for the test, which takes nobody without TLS; the right address, and each that differs in one point.
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Certificates, makeCertificates } from "../../../e2e/kit/receiver.ts";
import { PostgresServer } from "../../test/postgres-server.ts";
import { createLog } from "../ground/log.ts";
import { Database, isConnectionLoss } from "./database.ts";
import { migrate } from "./migrations.ts";

let folder: string;
let server: PostgresServer;
let right: Certificates;
let another: Certificates;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "gerbang-tls-"));
  chmodSync(folder, 0o711);
  [right, another] = await Promise.all([makeCertificates({ address: false }), makeCertificates()]);
  server = await PostgresServer.start(join(folder, "postgres"), {
    files: { "server.crt": right.cert, "server.key": right.key },
    settings: ["ssl = on", "ssl_min_protocol_version = 'TLSv1.3'"],
    access: ["hostssl all all 127.0.0.1/32 trust"],
  });
});
afterAll(() => {
  server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** How a connection of the service is secured; throws where there is none. */
async function connection(host: string, options: string): Promise<unknown> {
  const url = `postgres://postgres@${host}:${server.port}/postgres${options}`;
  const database = new Database(url, 1, createLog("silent"));
  try {
    return await database.query({ text: "select ssl, version from pg_stat_ssl where pid = pg_backend_pid()" });
  } finally {
    await database.end();
  }
}
const verified = (ca: Certificates): string => `?sslmode=verify-full&sslrootcert=${encodeURIComponent(ca.caFile)}`;

test("the server that the authority vouches for is spoken to by TLS, and migrated so", async () => {
  expect(await connection("localhost", verified(right))).toEqual([{ ssl: true, version: "TLSv1.3" }]);
  const url = `postgres://postgres@localhost:${server.port}/postgres${verified(right)}`;
  expect(await migrate(url)).toContain("0001_store.sql");
});

test("a server of another authority is not spoken to", async () => {
  await expect(connection("localhost", verified(another))).rejects.toThrow(/certificate|self-signed|signature/i);
});

test("another authority in the file counts from the next connection on, beside the one before", async () => {
  const file = join(folder, "authorities.pem");
  const url = `postgres://postgres@localhost:${server.port}/postgres?sslmode=verify-full&sslrootcert=${encodeURIComponent(file)}`;
  writeFileSync(file, readFileSync(another.caFile, "utf8"));
  const database = new Database(url, 1, createLog("silent"));
  onTestFinished(() => database.end());
  await expect(database.query({ text: "select 1 as one" })).rejects.toThrow(/certificate|self-signed|signature/i);
  writeFileSync(file, [right, another].map(({ caFile }) => readFileSync(caFile, "utf8")).join("\n"));
  expect(await database.query({ text: "select 1 as one" })).toEqual([{ one: 1 }]);
});

test("an authority that only the system might know is not enough", async () => {
  await expect(connection("localhost", "?sslmode=verify-full")).rejects.toThrow(/certificate|self-signed/i);
});

test("a certificate with another name is refused", async () => {
  await expect(connection("127.0.0.1", verified(right))).rejects.toThrow(/altnames|cert's list/);
});

test("without TLS the server refuses, as pg_hba.conf demands", async () => {
  await expect(connection("localhost", "?sslmode=disable")).rejects.toMatchObject({ code: "28000" });
});

test.each(["N", "E"])(
  "a server that answers %s when it is asked for TLS is out of service, as one that is down",
  async (answer) => {
    const plain = createServer((socket) => socket.once("data", () => socket.write(answer)));
    onTestFinished(() => void plain.close());
    plain.listen(0, "127.0.0.1");
    await once(plain, "listening");
    const url = `postgres://gerbang@localhost:${(plain.address() as AddressInfo).port}/gerbang${verified(right)}`;
    const database = new Database(url, 1, createLog("silent"));
    const error: unknown = await database.query({ text: "select 1" }).catch((failure: unknown) => failure);
    await database.end();
    expect(error).toBeInstanceOf(Error);
    expect(isConnectionLoss(error)).toBe(true);
  },
);
