// Goal: a file is taken for what it is, whole, and never for what its name says. Method: real files, files that pretend, and any cut of them.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jpegOf, pdfOf, pngOf } from "../../test/files.ts";
import { Fault } from "../ground/fault.ts";
import { Inspection, PIXELS_MAX } from "./evidence-inspection.ts";

/** What it is found to be, or the sentence with which it is refused. The first piece is the first kilobyte, as the store hands it over. */
function judge(file: Buffer, sizes: readonly number[] = [file.length]): string {
  const inspection = new Inspection();
  try {
    let at = 0;
    for (let turn = 0; at < file.length; turn++) {
      const size = turn === 0 ? Math.max(1024, sizes[0] ?? 0) : (sizes[turn % sizes.length] ?? 1);
      inspection.take(file.subarray(at, at + size));
      at += size;
    }
    return inspection.end();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    expect(error.extras.details).toEqual({ field: "file", value: null });
    return error.message;
  }
}

describe("taken", () => {
  test.each([
    ["a PDF", pdfOf("Resi 1042"), "application/pdf"],
    [
      "a PDF behind a byte order mark and blank lines",
      Buffer.concat([Buffer.from("\ufeff\r\n\n"), pdfOf("Resi 1042")]),
      "application/pdf",
    ],
    ["a PNG", pngOf(3, 2), "image/png"],
    ["a JPEG", jpegOf(640, 480), "image/jpeg"],
    [
      "a JPEG with a film behind its end, as phones make them",
      Buffer.concat([jpegOf(8, 8), Buffer.from("ftypmp42")]),
      "image/jpeg",
    ],
    ["the largest PNG", pngOf(10_000, PIXELS_MAX / 10_000, { pixels: Buffer.alloc(9) }), "image/png"],
  ])("%s", (_what, file, found) => expect(judge(file)).toBe(found));
});

describe("refused in a sentence", () => {
  const ihdr = (change: (facts: Buffer) => void): Buffer => {
    const file = Buffer.from(pngOf(3, 2));
    change(file.subarray(16, 29));
    return file;
  };
  test.each([
    ["nothing at all", Buffer.alloc(0), /is empty/],
    ["a Windows program", Buffer.from("MZ\x90\0\x03"), /Windows program, whatever its name says/],
    ["a program", Buffer.from("\x7fELF\x02"), /program/],
    ["a script", Buffer.from("#!/bin/sh\nrm -rf /\n"), /script/],
    ["a web page", Buffer.from("\n<HTML><script>alert(1)</script>"), /web page/],
    ["a drawing with a script", Buffer.from('<svg onload="alert(1)"/>'), /drawing/],
    ["a picture of an iPhone", Buffer.from("\0\0\0\x18ftypheic\0\0\0\0"), /HEIC.*JPEG/],
    ["an office document", Buffer.from("PK\x03\x04\x14\0"), /Save the document as a PDF/],
    ["a text", Buffer.from("It was delivered."), /Write it into the statement/],
    ["random bytes", Buffer.from([1, 2, 3, 255, 0, 9]), /neither a PDF nor a PNG nor a JPEG/],
    ["a PDF that does not begin as one", Buffer.from("MZ %PDF-1.7 %%EOF"), /Windows program/],
    ["a PDF without its end", pdfOf("x").subarray(0, -20), /PDF breaks off/],
    ["a PDF with a password", Buffer.from("%PDF-1.7\ntrailer << /Encrypt 5 0 R >>\n%%EOF"), /protected by a password/],
    ["a PNG bomb", pngOf(50_000, 50_000, { pixels: Buffer.alloc(9) }), /50000 × 50000 pixels/],
    ["a PNG one pixel too large", pngOf(10_001, 5_000, { pixels: Buffer.alloc(9) }), /10001 × 5000/],
    ["a PNG of no width", pngOf(0, 5, { pixels: Buffer.alloc(9) }), /PNG is damaged/],
    ["a PNG of a depth that does not exist", ihdr((facts) => facts.writeUInt8(7, 8)), /PNG is damaged/],
    ["a PNG of a colour that does not exist", ihdr((facts) => facts.writeUInt8(1, 9)), /PNG is damaged/],
    [
      "a PNG with a program behind its end",
      Buffer.concat([pngOf(3, 2), Buffer.from("MZ")]),
      /behind the end of this PNG/,
    ],
    ["a PNG without pixels", Buffer.concat([pngOf(3, 2).subarray(0, 33), pngOf(3, 2).subarray(-12)]), /PNG is damaged/],
    ["half a PNG", pngOf(3, 2).subarray(0, 40), /PNG breaks off/],
    ["a PNG's first bytes and nothing more", pngOf(3, 2).subarray(0, 8), /PNG breaks off/],
    ["half a JPEG", jpegOf(640, 480).subarray(0, -2), /JPEG breaks off/],
    ["a JPEG bomb", jpegOf(65_535, 65_535), /65535 × 65535/],
    ["a JPEG without a size", Buffer.from("ffd8ffda0002ffd9", "hex"), /JPEG is damaged/],
    ["a JPEG whose segments lead nowhere", Buffer.from("ffd8ffe00004abcd1234", "hex"), /JPEG is damaged/],
    ["a JPEG segment shorter than nothing", Buffer.from("ffd8ffe0000000000000", "hex"), /JPEG is damaged/],
  ])("%s", (_what, file, message) => expect(judge(file)).toMatch(message));
});

const whole = {
  pdf: pdfOf("a".repeat(5_000)),
  png: pngOf(64, 64, { pixels: Buffer.alloc(20_000, 7) }),
  jpeg: jpegOf(640, 480, 9_000),
};
const anyFile = fc.constantFrom(...(Object.keys(whole) as (keyof typeof whole)[]));

test("property: however a file is cut into pieces, it is found to be the same", () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(anyFile, cuts, (name, sizes) => {
      expect(judge(whole[name], sizes)).toBe(judge(whole[name]));
    }),
  );
});

test("property: whatever bytes come, and wherever a file breaks off, there is an answer", () => {
  fc.assert(
    fc.property(anyFile, fc.nat(), fc.uint8Array({ maxLength: 60 }), (name, cut, noise) => {
      const bent = Buffer.concat([whole[name].subarray(0, cut % whole[name].length), noise]);
      expect(judge(bent)).toMatch(/./);
    }),
  );
});
