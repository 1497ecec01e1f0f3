// Goal: whatever an acquirer says of a payment, and an operator records of it, in whatever order, money counts once and nothing is taken as known
// that is not. Method: random sequences of the pure commands, on one payment, with what must hold after each.
import fc from "fast-check";
import { expect, test } from "vitest";
import { anOperation, openingParts } from "../../test/acquiring.ts";
import { NOW, type Then, book, given, ownerWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { refundParts } from "../../test/refunds.ts";
import { scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import type { ReportedState } from "../acquirers/acquirer.ts";
import { openDispute, resolveDispute } from "../disputes/disputes.ts";
import { disputes } from "../disputes/disputes.sql.ts";
import { HOUR, type Micros, SECOND } from "../ground/clock.ts";
import { isRunning } from "../payments/payment.ts";
import { cancelPayment, expirePayment } from "../payments/payments.ts";
import { payments } from "../payments/payments.sql.ts";
import { isPaid, isUnpaid } from "../payments/states.ts";
import { refunds } from "../refunds/refunds.sql.ts";
import { completeRefund, createRefund, remainingOf } from "../refunds/refunds.ts";
import type { Command } from "../store/command.ts";
import { need } from "../store/working-set.ts";
import { exceptions } from "./exceptions.sql.ts";
import { paymentNotification } from "./notifications.ts";
import { concludeOpening } from "./opening.ts";
import type { Operation } from "./operation.ts";
import { LEASE, operations } from "./operations.sql.ts";
import { decideReceipt } from "./receipts.ts";
import { receipts } from "./receipts.sql.ts";
import { recordPaymentOutcome } from "./recorded-outcomes.ts";

const owner = ownerWith();
const { merchant } = owner;
const parts = openingParts(scriptedAcquirer("kawah"));
const refunding = refundParts("by a call").parts;

const money = fc.record({
  transactionId: fc.constantFrom("trx-1", "trx-2", "trx-3"),
  amountMinor: fc.constantFrom(1_000_000n, 1_000_000n, 400_000n),
  currency: fc.constant("IDR"),
});
const state: fc.Arbitrary<ReportedState> = fc.oneof(
  fc.constantFrom<ReportedState>({ status: "waiting" }, { status: "processing" }, { status: "failed" }),
  money.map((receipt): ReportedState => ({ status: "paid", receipt })),
);
const result: fc.Arbitrary<"unknown" | "absent" | ReportedState> = fc.oneof(
  state,
  state,
  fc.constantFrom("unknown" as const, "absent" as const),
);
const step = fc.oneof(
  { weight: 3, arbitrary: state.map((said) => ({ do: "notify", said }) as const) },
  { weight: 3, arbitrary: fc.constant({ do: "claim" } as const) },
  { weight: 4, arbitrary: result.map((found) => ({ do: "conclude", found }) as const) },
  {
    weight: 5,
    arbitrary: fc
      .option(fc.constantFrom("trx-1", "trx-2", "trx-3"), { nil: undefined })
      .map((id) => ({ do: "record", id }) as const),
  },
  fc.constantFrom(10_000n, 400_000n, undefined).map((amount) => ({ do: "refund", amount }) as const),
  fc.constantFrom("succeeded" as const, "failed" as const).map((outcome) => ({ do: "complete", outcome }) as const),
  fc.constantFrom(undefined, 300_000).map((amount) => ({ do: "contest", amount }) as const),
  fc.constantFrom("won" as const, "lost" as const, "withdrawn" as const).map((as) => ({ do: "resolve", as }) as const),
  fc.constantFrom("returned" as const, "credited" as const).map((as) => ({ do: "decide", as }) as const),
  fc.constantFrom({ do: "cancel" } as const, { do: "expire" } as const),
);

const claim = (of: Operation, realNow: Micros): Command<void> => ({
  name: "claim",
  book,
  needs: [need(operations, of)],
  execute: (set) => set.update(operations, { ...of, dueAt: realNow + LEASE }),
});

test("no sequence counts money twice, leaves a payment open that nobody asks about, or hides that money is gone", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const payment = aPayment({ gatewayCode: "kawah" });
      const { reference, instructions } = payment;
      if (!instructions) return;
      const opened = anOperation(reference, { step: "polling", dueAt: NOW + 300 * SECOND });
      let now = NOW + 25 * HOUR;
      const start = given({
        rows: [row(payments, { ...payment, expiresAt: now + 24 * HOUR }), row(operations, opened)],
        realNow: now,
      });
      let then: Then<unknown> = start.when({ name: "nothing", book, needs: [], execute: () => undefined });
      let claimed: Operation = opened;
      let asked = payment;
      for (const one of steps) {
        const { changes } = then;
        const current = changes.seen(operations, { book, id: reference })!;
        const before = changes.seen(payments, { book, reference })!;
        const [refund] = changes.inserted(refunds).filter(({ status }) => status === "pending");
        const [dispute] = changes.inserted(disputes).filter(({ status }) => isRunning(status));
        const [late] = changes.inserted(receipts).filter(({ status }) => status === "unapplied");
        const run = <T>(command: Command<T>) => (then = then.when(command, now));
        let isTold: boolean | undefined;
        now += 200 * SECOND;
        switch (one.do) {
          case "notify":
            run(
              paymentNotification(merchant, { book, id: reference, kind: "payment", attempt: 1 }, "kawah", {
                state: one.said,
              }),
            );
            break;
          case "claim":
            if (current.dueAt === undefined) break;
            now = Math.max(now, current.dueAt);
            claimed = { ...current, dueAt: now + LEASE };
            asked = before;
            run(claim(current, now));
            now -= 199 * SECOND;
            break;
          case "conclude": {
            const isClosed = claimed.step === "polling" && (isPaid(asked.status) || asked.status === "failed");
            const found = isClosed ? "closed" : one.found;
            const known = typeof found === "object";
            run(
              concludeOpening(
                parts,
                merchant,
                claimed,
                known ? { kind: "known", instructions, state: found, isOver: isUnpaid(asked.status) } : { kind: found },
              ),
            );
            if (known && found.status === "failed") isTold = true;
            break;
          }
          case "record": {
            const due = current.dueAt ?? now;
            if (due > now - 11 * SECOND && due <= now + LEASE + 10 * SECOND) now = due + 11 * SECOND;
            run(recordPaymentOutcome(parts, owner, before, current, one.id));
            if (!("fault" in then.outcome) && one.id === undefined) isTold = true;
            break;
          }
          case "refund":
            run(
              createRefund(refunding, owner, {
                payment_reference: reference,
                ...(one.amount && { amount_minor: Number(one.amount) }),
              }),
            );
            break;
          case "complete":
            if (refund) run(completeRefund(owner, { uuid: refund.uuid, paymentReference: reference }, one.outcome));
            break;
          case "contest":
            run(openDispute(owner, reference, { reason: "general", amount_minor: one.amount }));
            break;
          case "resolve":
            if (dispute) run(resolveDispute(owner, { uuid: dispute.uuid, paymentReference: reference }, one.as));
            break;
          case "decide":
            if (late) run(decideReceipt(merchant, late, one.as));
            break;
          case "cancel":
            run(cancelPayment(parts, owner, reference, undefined));
            break;
          case "expire":
            run(expirePayment(owner, reference));
            break;
        }
        const after = then.changes;
        const paid = after.seen(payments, { book, reference })!;
        const operation = after.seen(operations, { book, id: reference })!;
        for (const { entries } of after.journals)
          expect(Object.values(entries).reduce((sum, amount) => sum + amount, 0n)).toBe(0n);
        const kept = after.inserted(receipts);
        const captures = after.journals.filter(({ kind }) => kind === "capture").length;
        expect(captures).toBeLessThanOrEqual(1);
        expect(kept.filter(({ status }) => status === "applied")).toHaveLength(captures);
        expect(after.journals.filter(({ kind }) => kind === "receipt_unapplied")).toHaveLength(kept.length - captures);
        expect(new Set(kept.map(({ transactionId }) => transactionId)).size).toBe(kept.length);
        if (operation.step === "done") expect(paid.status).not.toBe("processing");
        const told = after.inserted(exceptions).filter(({ kind }) => kind === "dispute");
        expect(told.length).toBeLessThanOrEqual(1);
        if (!isTold) continue;
        const held =
          paid.status === "succeeded" ||
          paid.status === "partially_refunded" ||
          kept.some(({ status }) => status === "unapplied" || status === "credited");
        const isExplained =
          isRunning(paid.disputeStatus) || (paid.disputeStatus === "lost" && remainingOf(paid) === 0n);
        const isAsked = operation.step !== "done";
        if (held && !isExplained && told.length === 0 && !isAsked)
          expect.unreachable(`${one.do}: ${paid.status}, and nobody is told that its money is gone`);
      }
    }),
    { numRuns: 300 },
  );
});
