// Goal: a merchant's evidence arrives whole, and once, or is refused before anything is sent. Method: tables, and files read back.
import { expect, test } from "vitest";
import type { EvidenceRequest } from "../../acquirers/acquirer.ts";
import { FILES_MAX, evidenceOrder, evidenceText, fieldsOf, fileUpload, objectionToEvidence } from "./evidence.ts";

const fields = (form: string): Record<string, string> => Object.fromEntries(new URLSearchParams(form));
const file = (name: string, bytes = Buffer.from(name)) => ({ name, type: "application/pdf", bytes });

test.each([
  [["a.pdf"], ["uncategorized_file"]],
  [
    ["faktur-12.pdf", "bukti kirim.pdf"],
    ["receipt", "shipping_documentation"],
  ],
  [
    ["receipt.pdf", "receipt-2.pdf"],
    ["receipt", "uncategorized_file"],
  ],
  [
    ["a.pdf", "chat.png", "b.pdf"],
    ["uncategorized_file", "customer_communication", "shipping_documentation"],
  ],
  [["contract.pdf"], ["service_documentation"]],
])("files %j go to the fields %j", (names, expected) => {
  expect(fieldsOf(names.map((name) => ({ name })))).toEqual(expected);
});

test("no two files share a field, as many as there may be", () => {
  const names = Array.from({ length: FILES_MAX }, (_, index) => ({ name: `receipt ${index}` }));
  expect(new Set(fieldsOf(names)).size).toBe(FILES_MAX);
});

const evidence: EvidenceRequest = {
  disputeId: "du_1",
  operationKey: "d1.stripe",
  statement: "It was signed for.",
  carrier: "JNE",
  trackingNumber: "JB001",
  deliveredOn: "2026-11-20",
  files: [file("receipt.pdf"), file("more.pdf")],
};

test("evidence is submitted for good, with its files by their names there", () => {
  expect(fields(evidenceOrder(evidence, ["file_1", "file_2"]))).toEqual({
    "evidence[uncategorized_text]": "It was signed for.\n\nDelivered on 2026-11-20.",
    "evidence[shipping_carrier]": "JNE",
    "evidence[shipping_tracking_number]": "JB001",
    "evidence[receipt]": "file_1",
    "evidence[uncategorized_file]": "file_2",
    "metadata[operation_key]": "d1.stripe",
    submit: "true",
  });
  const bare = { ...evidence, carrier: undefined, trackingNumber: undefined, deliveredOn: undefined, files: [] };
  expect(Object.keys(fields(evidenceOrder(bare, [])))).toEqual([
    "evidence[uncategorized_text]",
    "metadata[operation_key]",
    "submit",
  ]);
  expect(evidenceText(bare)).toBe("It was signed for.");
});

test("an uploaded file arrives byte for byte, is the same request each time, and its name breaks out of nothing", async () => {
  const bytes = Buffer.from(Uint8Array.from({ length: 512 }, (_, index) => index & 0xff));
  const upload = fileUpload({ name: 'bukti"\r\nx: y é.pdf', type: "application/pdf", bytes });
  expect(fileUpload({ name: 'bukti"\r\nx: y é.pdf', type: "application/pdf", bytes })).toEqual(upload);
  const form = await new Response(new Uint8Array(upload.body), {
    headers: { "content-type": upload.contentType },
  }).formData();
  expect([...form.keys()]).toEqual(["purpose", "file"]);
  expect(form.get("purpose")).toBe("dispute_evidence");
  const read = form.get("file") as File;
  expect(read).toMatchObject({ name: "bukti___x: y _.pdf", type: "application/pdf" });
  expect(Buffer.from(await read.arrayBuffer())).toEqual(bytes);
});

test.each([
  [
    "a statement that is too long",
    { statement: "x".repeat(20_001), deliveredOn: undefined },
    "they take 20000: shorten it",
  ],
  ["a statement that is too long with the day in it", { statement: "x".repeat(20_000) }, "they take 20000: shorten it"],
  [
    "nine files",
    { files: Array.from({ length: 9 }, () => file("a.pdf")) },
    "there are 9 files, and they take 8: put several into one PDF",
  ],
  [
    "a file of another kind",
    { files: [file("a.pdf"), { ...file("b"), type: "text/plain" }] },
    "file 2 of 2 is no PDF, JPEG or PNG: save it as one",
  ],
  [
    "a file that is a byte too large",
    { files: [file("a.pdf"), file("Budi.pdf", Buffer.alloc(5_000_001)), file("b.pdf")] },
    "file 2 of 3 has 5.1 MB, and they take 5 MB: save it smaller, or split it",
  ],
])("%s is refused at once, with what to do", (_name, change, reason) => {
  expect(objectionToEvidence(evidence)).toBeUndefined();
  const objection = objectionToEvidence({ ...evidence, ...change });
  expect(objection).toContain(reason);
  expect(objection).toContain("hand all of it in on the dispute's page in their dashboard");
  expect(objection).not.toContain("Budi");
});

test("all that is wrong with evidence is said at once, and a file of 5 MB to the byte is taken", () => {
  const large = (name: string) => file(name, Buffer.alloc(6_200_000));
  const objection = objectionToEvidence({ ...evidence, files: [large("a"), file("b"), large("c")] });
  expect(objection).toContain("file 1 of 3 has 6.2 MB");
  expect(objection).toContain("file 3 of 3 has 6.2 MB");
  expect(objection).not.toContain("file 2");
  expect(objectionToEvidence({ ...evidence, files: [file("a", Buffer.alloc(5_000_000))] })).toBeUndefined();
});
