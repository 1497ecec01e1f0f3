// Goal: what expires in any room is deleted by the sweep, and no other table is. Method: pure. The tables of the statements, written out: none of
// them holds money, an event, or what was decided of either.
import { expect, test } from "vitest";
import { expiredAt } from "./retention.ts";

test("each room's expired rows are deleted, and nothing else", () => {
  const tables = expiredAt(1_780_000_000_000_000).map(({ text }) => /^delete from (\w+)/m.exec(text)?.[1] ?? text);
  expect([...new Set(tables)].toSorted()).toEqual([
    "acquirer_messages",
    "device_codes",
    "evidence_files",
    "evidence_pieces",
    "idempotency_keys",
    "operator_refusals",
    "passkey_challenges",
    "payment_totals",
    "people_audit",
    "rate_windows",
    "refused_requests",
    "request_log",
    "request_log_gaps",
    "sessions",
    "sign_in_failures",
    "sign_in_links",
    "status_days",
    "status_minutes",
    "stray_messages",
    "telemetry_acquirers",
    "telemetry_processes",
    "telemetry_samples",
  ]);
});
