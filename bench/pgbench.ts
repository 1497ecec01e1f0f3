// PostgreSQL's own load generator with the same rows: one transaction of prepared statements per payment, over 16 connections, with identities
// in the order of time like the service's. Used when `pgbench` is installed.
import { execFileSync, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const CONNECTIONS = 16;

/** Texts of a payment that the service made, so that the baseline writes the same number of bytes. */
export interface Sample {
  instructions: string;
  routing: string;
  risk: string;
  metadata: string;
  event: string;
  response: string;
}

export function findPgbench(): string | undefined {
  const { status, stdout } = spawnSync("pgbench", ["--version"], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

/** SQL of a UUID; those of one client sort in the order in which they are made. */
const uuid = (kind: number): string =>
  `(lpad(to_hex(:i::bigint), 16, '0') || lpad(to_hex(:client_id::bigint * 4 + ${kind}), 16, '0'))::uuid`;
const order = ":run || '-' || :client_id || '-' || :i";

// Values are parameters, as in the service: as literals they would be parsed once, and not once per payment.
const script = `\\set i :i + 1
begin;
insert into used_nonces (slot, merchant_id, valid_until, digest) values (0, :merchant::uuid, 4102444800, ${uuid(0)});
select status from idempotency_keys where merchant_id = :merchant::uuid and environment = 'sandbox' and idempotency_key = 'key-' || ${order};
insert into payments (merchant_id, environment, payment_id, status, amount_minor, fee_minor, created_at, updated_at, expires_at, payment_method, risk_score, currency, reference_id, gateway_code, risk_decision, description, metadata, instructions, risk_reasons, routing) values (:merchant::uuid, 'sandbox', ${uuid(1)}, 'pending', 150000, 1050, now(), now(), now() + interval '30 minutes', 'qris', 5, 'IDR', ${order}, 'nusantara', 'approve', 'Order', :metadata::json, :instructions::json, :risk::json, :routing::json);
insert into events (merchant_id, environment, event_id, type, subject_id, created_at, body) values (:merchant::uuid, 'sandbox', ${uuid(2)}, 'payment.created', ${uuid(1)}, now(), :event::text);
insert into deliveries (merchant_id, environment, event_id, url, next_attempt_at) values (:merchant::uuid, 'sandbox', ${uuid(2)}, 'https://receiver.gerbang-bench.com/hook', now());
insert into idempotency_keys (merchant_id, environment, idempotency_key, first_seen_at, body_digest, endpoint, status, response) values (:merchant::uuid, 'sandbox', 'key-' || ${order}, now(), sha256(convert_to(${order}, 'UTF8')), 'POST /v1/payments', 201, :response::text);
commit;
`;

/** Runs pgbench; gives payments per second. `merchant` is a uuid. Each `turn` of a merchant makes different rows. */
export function runPgbench(url: string, merchant: string, sample: Sample, seconds: number, turn: number): number {
  const directory = mkdtempSync(join(tmpdir(), "gerbang-pgbench-"));
  try {
    const file = join(directory, "payment.sql");
    writeFileSync(file, script);
    const variables = { i: String(turn * 100_000_000), run: randomUUID().slice(0, 8), merchant, ...sample };
    const defined = Object.entries(variables).flatMap(([name, value]) => ["-D", `${name}=${value}`]);
    const args = [
      "-n",
      "-M",
      "prepared",
      "-c",
      String(CONNECTIONS),
      "-j",
      "2",
      "-T",
      String(seconds),
      ...defined,
      "-f",
      file,
      url,
    ];
    const out = execFileSync("pgbench", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    return Number(/tps = ([\d.]+)/.exec(out)?.[1] ?? Number.NaN);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
