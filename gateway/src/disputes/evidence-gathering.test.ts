// Goal: evidence is gathered while it is awaited, within its limits, and submitted once. Method: the pure commands over disputes and files.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NOW, type Then, given, ownerWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { aDispute, nothing } from "../../test/refunds.ts";
import { SECOND } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { newId } from "../ground/ids.ts";
import { disputeStatuses } from "../payments/payment.ts";
import { payments } from "../payments/payments.sql.ts";
import type { Dispute } from "./dispute.ts";
import { resolveDispute } from "./disputes.ts";
import { disputes, evidence } from "./disputes.sql.ts";
import {
  FILES_BYTES_MAX,
  FILES_MAX,
  FILE_BYTES_MAX,
  beginFile,
  keepFile,
  removeFile,
  saveDraft,
  submitDraft,
} from "./evidence-gathering.ts";
import { type EvidenceFile, evidenceDrafts, evidenceFiles, fileLists } from "./evidence.sql.ts";

const owner = ownerWith();
const { book } = owner;
const text = { statement: "It was signed for.", carrier: "JNE", trackingNumber: undefined, deliveredOn: "2026-11-20" };
const judged = { mediaType: "application/pdf", sha256: Buffer.alloc(32) } as const;

function awaiting(changes: Partial<Dispute> = {}, files: readonly Partial<EvidenceFile>[] = [], offsetSeconds = 0) {
  const payment = aPayment({ status: "succeeded", disputeStatus: changes.status ?? "needs_response" });
  const dispute = aDispute(payment, changes);
  const { uuid, paymentReference } = dispute;
  const all = files.map((file, index): EvidenceFile => ({
    book,
    uuid,
    fileId: newId("file", NOW),
    slot: index + 1,
    state: "kept",
    name: "resi.pdf",
    sizeBytes: 10,
    mediaType: "application/pdf",
    ...file,
  }));
  const rows = [
    row(payments, payment),
    row(disputes, dispute),
    row(fileLists, { book, uuid, files: all }),
    ...all.map((file) => row(evidenceFiles, file)),
  ];
  return { dispute, key: { uuid, paymentReference }, files: all, start: given({ rows, offsetSeconds }) };
}

const announced = { name: "resi.pdf", sizeBytes: 10 };

describe("the draft", () => {
  test("is kept, and kept anew; nothing else happens", () => {
    const { key, start } = awaiting();
    const saved = start.when(saveDraft(owner, key, text)).then((changes, draft) => {
      expect(draft).toMatchObject({ ...text, savedAt: NOW });
      expect(changes.inserted(evidenceDrafts)).toEqual([draft]);
      expect([changes.events, changes.journals]).toEqual([[], []]);
    });
    saved.when(saveDraft(owner, key, { statement: "" })).then((_changes, draft) => {
      expect(draft.statement).toBe("");
      expect(draft.carrier).toBeUndefined();
    });
  });
});

describe("a file", () => {
  test.each([
    ["of one byte", 1, undefined],
    ["of 10 MiB", FILE_BYTES_MAX, undefined],
    ["of 10 MiB and a byte", FILE_BYTES_MAX + 1, "PAYLOAD_TOO_LARGE"],
    ["of nothing", 0, "VALIDATION_ERROR"],
  ] as const)("%s", (_what, sizeBytes, code) => {
    const { key, start } = awaiting();
    const begun = start.when(beginFile(owner, key, { name: "resi.pdf", sizeBytes }));
    if (code) begun.refuses(code);
    else expect(begun.answer).toMatchObject({ state: "arriving", slot: 1, sizeBytes });
  });

  test("takes the first free slot; after ten there is none, whether they arrive or are kept", () => {
    const nine = Array.from({ length: FILES_MAX - 1 }, (_, index) => ({ slot: index < 3 ? index + 1 : index + 2 }));
    const { key, start } = awaiting({}, nine);
    const tenth = start.when(beginFile(owner, key, announced));
    expect(tenth.answer.slot).toBe(4);
    tenth.when(beginFile(owner, key, announced)).refuses("VALIDATION_ERROR", undefined, true);
  });

  test("together they have 50 MiB at most", () => {
    const { key, start } = awaiting({}, [
      { sizeBytes: FILE_BYTES_MAX },
      { sizeBytes: FILES_BYTES_MAX - FILE_BYTES_MAX - 10 },
    ]);
    start.when(beginFile(owner, key, { name: "a", sizeBytes: 11 })).refuses("PAYLOAD_TOO_LARGE");
    expect(start.when(beginFile(owner, key, announced)).answer.state).toBe("arriving");
  });

  test("is kept once, when it was judged", () => {
    const { key, files, start } = awaiting({}, [{ state: "arriving", mediaType: undefined }]);
    const fileId = files[0]?.fileId ?? "";
    const kept = start.when(keepFile(owner, key, fileId, judged)).then((changes, file) => {
      expect(file).toMatchObject({ state: "kept", keptAt: NOW, ...judged });
      expect(changes.updated(evidenceFiles)).toEqual([file]);
    });
    kept.when(keepFile(owner, key, fileId, judged)).refuses("OBJECT_NOT_FOUND", undefined, true);
  });

  test("is taken back once, and frees its slot", () => {
    const { key, files, start } = awaiting(
      {},
      Array.from({ length: FILES_MAX }, () => ({})),
    );
    const fileId = files[4]?.fileId ?? "";
    const removed = start.when(removeFile(owner, key, fileId));
    expect(removed.answer).toMatchObject({ state: "removed", mediaType: undefined });
    removed.when(removeFile(owner, key, fileId)).refuses("OBJECT_NOT_FOUND", undefined, true);
    expect(removed.when(beginFile(owner, key, announced)).answer.slot).toBe(5);
  });

  test("that arrives can be given up after the deadline; one that is kept stays", () => {
    const { key, files, start } = awaiting({ evidenceDueAt: NOW }, [{ state: "arriving" }, { state: "kept" }]);
    expect(start.when(removeFile(owner, key, files[0]?.fileId ?? "")).answer.state).toBe("removed");
    start.when(removeFile(owner, key, files[1]?.fileId ?? "")).refuses("DISPUTE_RESOLVED", undefined, true);
  });

  test("of another dispute is not found", () => {
    const { key, start } = awaiting();
    start.when(keepFile(owner, key, newId("file", NOW), judged)).refuses("OBJECT_NOT_FOUND");
    start.when(removeFile(owner, key, newId("file", NOW))).refuses("OBJECT_NOT_FOUND");
  });
});

describe("submitting", () => {
  test("takes the draft and the files that are kept, once; one that still arrives is not among them", () => {
    const { dispute, key, files, start } = awaiting({}, [{ name: "<b>.pdf" }, { state: "arriving" }]);
    const submitted = start
      .when(saveDraft(owner, key, text))
      .when(submitDraft(owner, key))
      .then((changes, answer) => {
        expect(answer).toMatchObject({ uuid: dispute.uuid, status: "under_review" });
        const [file] = files;
        expect(changes.inserted(evidence)).toMatchObject([
          {
            ...text,
            submittedAt: NOW,
            files: [{ file_id: file?.fileId, name: "<b>.pdf", media_type: "application/pdf", size_bytes: 10 }],
          },
        ]);
        expect(changes.events).toEqual(["dispute.updated"]);
        expect(changes.journals).toEqual([]);
      });
    for (const again of [
      submitDraft(owner, key),
      saveDraft(owner, key, text),
      beginFile(owner, key, announced),
      removeFile(owner, key, files[0]?.fileId ?? ""),
      keepFile(owner, key, files[1]?.fileId ?? "", judged),
    ])
      submitted.when<unknown>(again).refuses("DISPUTE_RESOLVED", { status: "under_review" }, true);
  });

  test.each(["", "  \n "])("needs a statement, and %j is none", (statement) => {
    const { key, start } = awaiting();
    start.when(submitDraft(owner, key)).refuses("VALIDATION_ERROR", { field: "statement", value: null });
    const saved = start.when(saveDraft(owner, key, { statement }));
    saved.when(submitDraft(owner, key)).refuses("VALIDATION_ERROR", { field: "statement", value: statement }, true);
  });

  test.each([
    ["a moment before it is due", 1, 0, true],
    ["when it is due", 0, 0, false],
    ["after it was due by the book's clock", 99 * SECOND, 100, false],
  ])("%s", (_when, left, offsetSeconds, inTime) => {
    const { key, start } = awaiting({ evidenceDueAt: NOW + left }, [], offsetSeconds);
    for (const command of [saveDraft(owner, key, text), beginFile(owner, key, announced)]) {
      const outcome = start.when<unknown>(command);
      if (inTime) expect(outcome.answer).toBeDefined();
      else expect(outcome.outcome).toMatchObject({ fault: { code: "DISPUTE_RESOLVED", message: /was due/ } });
    }
  });

  test.each(disputeStatuses.filter((status) => status !== "needs_response"))("is over for one that is %s", (status) => {
    const { key, start } = awaiting({ status, resolvedAt: NOW });
    start.when(saveDraft(owner, key, text)).refuses("DISPUTE_RESOLVED", { status });
    start.when(submitDraft(owner, key)).refuses("DISPUTE_RESOLVED", { status });
  });

  test("is for one's own dispute in this environment", () => {
    const { key, start } = awaiting();
    start.when(submitDraft(owner, { ...key, paymentReference: undefined })).refuses("OBJECT_NOT_FOUND");
    const elsewhere = aDispute(aPayment({ status: "succeeded" }));
    start.when(submitDraft(owner, elsewhere)).refuses("ENVIRONMENT_MISMATCH");
  });
});

test("any steps in any order: the files keep their limits, and what is submitted is what was kept then", () => {
  const step = fc.oneof(
    fc.record({
      do: fc.constant("begin" as const),
      size: fc.constantFrom(1, 9_000_000, FILE_BYTES_MAX, FILE_BYTES_MAX + 1),
    }),
    fc.record({ do: fc.constantFrom("keep" as const, "remove" as const), which: fc.nat(15) }),
    fc.record({ do: fc.constantFrom("save" as const, "submit" as const, "win" as const) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { key, start } = awaiting();
      let last: Then<unknown> = start.when(nothing);
      let [begun, files]: [string[], Map<string, EvidenceFile>] = [[], new Map()];
      let [saved, submitted, over] = [false, false, false];
      for (const one of steps) {
        const which = "which" in one ? (begun[one.which] ?? newId("file", NOW)) : "";
        const command = {
          begin: () => beginFile(owner, key, { name: "a", sizeBytes: "size" in one ? one.size : 0 }),
          keep: () => keepFile(owner, key, which, judged),
          remove: () => removeFile(owner, key, which),
          save: () => saveDraft(owner, key, text),
          submit: () => submitDraft(owner, key),
          win: () => resolveDispute(owner, key, "won"),
        }[one.do]();
        last = last.when<unknown>(command);
        if ("fault" in last.outcome) {
          expect(last.outcome.fault).toBeInstanceOf(Fault);
          continue;
        }
        if (one.do === "win") over = true;
        else if (one.do === "submit") {
          expect(saved && !over && !submitted).toBe(true);
          submitted = true;
          const kept = [...files.values()].filter(({ state }) => state === "kept").map(({ fileId }) => fileId);
          const given = last.changes
            .inserted(evidence)[0]
            ?.files.map((file) => ("file_id" in file ? file.file_id : ""));
          expect(new Set(given)).toEqual(new Set(kept));
        } else if (one.do === "save") saved = true;
        else {
          const file = last.outcome.answer as EvidenceFile;
          if (one.do === "begin") begun = [...begun, file.fileId];
          files = new Map([...files, [file.fileId, file]]);
          if (file.state === "removed") files.delete(file.fileId);
          expect(one.do === "remove" || !(over || submitted)).toBe(true);
          expect(files.size).toBeLessThanOrEqual(FILES_MAX);
          expect(new Set([...files.values()].map(({ slot }) => slot)).size).toBe(files.size);
          expect([...files.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)).toBeLessThanOrEqual(
            FILES_BYTES_MAX,
          );
        }
      }
    }),
    { numRuns: 300 },
  );
});
