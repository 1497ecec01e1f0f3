// The exam's cases about disputes: reported from beginning to end, and believed only when the provider stands by the report.
import { isDeepStrictEqual } from "node:util";
import type { OpenRequest, ReportedDispute } from "../../acquirers/acquirer.ts";
import { type Bench, type ExamCase, NotApplicable, check, until, examCase } from "./bench.ts";
import { receiptOf } from "./cases.paying.ts";

/** A paid payment that the payer disputes. Throws `NotApplicable` when the provider knows no disputes. */
async function contested(bench: Bench): Promise<OpenRequest> {
  const { control } = bench;
  if (!control.dispute) throw new NotApplicable("the provider knows no disputes");
  const method = control.disputes?.method;
  const request = await bench.paid(method === undefined ? {} : { method });
  // This inquiry returns the provider's own ids of the payment, by which a dispute may name it.
  await receiptOf(bench, request);
  await control.dispute(request.operationKey, "open");
  return request;
}

function disputesOf(bench: Bench, { operationKey }: OpenRequest): ReportedDispute[] {
  return bench.reportsOf(operationKey).flatMap((report) => (report.kind === "dispute" ? [report.dispute] : []));
}

/** The last reported dispute with this status. The case fails when none is reported, or when the report does not count. */
async function told(bench: Bench, request: OpenRequest, status: ReportedDispute["status"]): Promise<ReportedDispute> {
  const found = (): ReportedDispute | undefined => disputesOf(bench, request).findLast((one) => one.status === status);
  await until(() => found() !== undefined);
  const dispute = found();
  check(dispute !== undefined, `that it is ${status} is not told`);
  check(await bench.counts(request, dispute), `that it is ${status} is told, and counts for nothing`);
  return dispute;
}

/** Positions of the first characters of values in a JSON text: the case changes each of them. */
function placesIn(text: string): number[] {
  return [...text.matchAll(/[:[,]\s*"?([A-Za-z0-9])/g)].map(({ 0: found, index }) => index + found.length - 1);
}

export const disputeCases: readonly ExamCase[] = [
  examCase("a dispute is told, and how it ends", async (bench) => {
    const request = await contested(bench);
    const open = await told(bench, request, "open");
    check(open.amountMinor === request.amountMinor, `another amount is told: ${open.amountMinor}`);
    if (bench.control.disputes?.tellsEnd === false)
      throw new NotApplicable("its beginning is told and counts, which is held; the provider's API tells no end");
    await bench.control.dispute?.(request.operationKey, "lost");
    await told(bench, request, "lost");
    const all = disputesOf(bench, request);
    check(all.at(-1)?.status === "lost", `its end is told as ${all.at(-1)?.status ?? "nothing"}`);
    check(new Set(all.map(({ id }) => id)).size === 1, "it is told as several");
  }),
  examCase("what is notified of a dispute counts for nothing when a byte of it is another", async (bench) => {
    const request = await contested(bench);
    const genuine = await told(bench, request, "open");
    const messages = await bench.messagesOf(request.operationKey);
    const message = messages.find(({ reports }) => reports.some(({ kind }) => kind === "dispute"));
    check(message !== undefined, "nothing was notified of it");
    const bare = Object.fromEntries(Object.entries(message.headers).filter(([name]) => !/signature|token/.test(name)));
    const isSignedInBody = message.body.includes("signature_key");
    check(isSignedInBody || bench.refusalOf({ ...message, headers: bare }) !== undefined, "it needs no proof at all");
    if (bench.control.disputes?.isProven === false)
      throw new NotApplicable("a token is all that stands for it, which is held: whoever knows it could write another");
    const places = placesIn(message.body.toString("latin1"));
    check(places.length > 0, "there was nothing to change in it");
    for (const at of places) {
      const body = Buffer.from(message.body);
      body[at] = body[at] === 0x39 ? 0x38 : 0x39;
      if (bench.refusalOf({ ...message, body }) !== undefined) continue;
      const meaning = bench.acquirer.calls.receive({ method: "POST", ...message, body }, Number.MAX_SAFE_INTEGER);
      for (const report of meaning.kind === "reports" ? meaning.reports : []) {
        if (report.kind === "look") continue;
        check(report.kind === "dispute", `it was believed as a ${report.kind}`);
        if (isDeepStrictEqual(report.dispute, genuine)) continue;
        check(!(await bench.counts(request, report.dispute)), `it was believed with byte ${at} changed`);
      }
    }
  }),
];
