// Detects a file's type from its bytes as they pass, never from its name. Pure; it keeps only a few bytes of the file at a time.
import { type Fault, validationFault } from "../ground/fault.ts";

export const mediaTypes = ["application/pdf", "image/png", "image/jpeg"] as const;
export type MediaType = (typeof mediaTypes)[number];

/** File name endings of each type, the usual one first. */
export const endingsOf: Readonly<Record<MediaType, readonly [string, ...string[]]>> = {
  "application/pdf": [".pdf"],
  "image/png": [".png"],
  "image/jpeg": [".jpg", ".jpeg", ".jpe", ".jfif"],
};

/** A larger picture would need hundreds of megabytes to be displayed, however small its file is. */
export const PIXELS_MAX = 50_000_000;
const SIDE_MAX = 20_000;

/** What a reader needs next: `read` so many bytes, `skip` so many, or go `past` the first occurrence of these bytes. */
type Wish = { read: number } | { skip: number } | { past: Buffer };
type Reader = Generator<Wish, void, Buffer>;

const SEND = "Send a PDF, a PNG or a JPEG.";
const wrong = (message: string): Fault => validationFault("file", undefined, message);
const damaged = (what: string): Fault =>
  wrong(`This ${what} is damaged: its inside does not fit together. Save it anew.`);

const names: Readonly<Record<MediaType, string>> = {
  "application/pdf": "PDF",
  "image/png": "PNG",
  "image/jpeg": "JPEG",
};

/** Types that people upload by mistake, by their first bytes, with the message for each. */
const others: readonly (readonly [at: number, beginning: string, message: string])[] = [
  [0, "MZ", `This is a Windows program, whatever its name says. ${SEND}`],
  [0, "\x7fELF", `This is a program, whatever its name says. ${SEND}`],
  [0, "#!", `This is a script, whatever its name says. ${SEND}`],
  [4, "ftyphei", "This is a HEIC picture, as iPhones take them. Save or export it as a JPEG."],
  [4, "ftypmif1", "This is a HEIC picture, as iPhones take them. Save or export it as a JPEG."],
  [4, "ftypavif", "This is an AVIF picture. Save it as a PNG or a JPEG."],
  [4, "ftyp", `This is a video. ${SEND}`],
  [8, "WEBP", "This is a WebP picture. Save it as a PNG or a JPEG."],
  [0, "GIF8", "This is a GIF picture. Save it as a PNG or a JPEG."],
  [0, "BM", "This is a BMP picture. Save it as a PNG or a JPEG."],
  [0, "II*\0", "This is a TIFF picture. Save it as a PDF, a PNG or a JPEG."],
  [0, "MM\0*", "This is a TIFF picture. Save it as a PDF, a PNG or a JPEG."],
  [0, "PK\x03\x04", "This is a ZIP archive, or a document of an office program. Save the document as a PDF."],
  [0, "\xd0\xcf\x11\xe0", "This is a document of an older office program. Save it as a PDF."],
  [0, "{\\rtf", "This is an RTF document. Save it as a PDF."],
];

const NOTHING: Buffer = Buffer.alloc(0);

export class Inspection {
  private reader: Reader | undefined;
  private wish: Wish | undefined;
  private found: MediaType | undefined;
  private held = NOTHING;
  private tail = NOTHING;

  /** Inspects the next bytes. The first call must get a kilobyte, or the whole file if that is smaller. Throws VALIDATION_ERROR. */
  take(bytes: Buffer): void {
    if (this.found === undefined) this.begin(bytes);
    if (this.found === "application/pdf") this.searchPdf(bytes);
    else this.follow(bytes);
  }

  /** The type of the file, after its last byte was taken. Throws VALIDATION_ERROR. */
  end(): MediaType {
    if (this.found === undefined) throw wrong("The file is empty.");
    const isWhole = this.found === "application/pdf" ? this.tail.includes("%%EOF") : this.wish === undefined;
    if (!isWhole) throw wrong(`This ${names[this.found]} breaks off before its end. Send the whole file.`);
    return this.found;
  }

  private begin(bytes: Buffer): void {
    const first = bytes.subarray(0, 1024);
    // Programs that write PDFs for shops often put a byte order mark or blank lines before them. PDF readers skip these.
    if (/^(?:\xef\xbb\xbf)?\s*%PDF-/.test(first.toString("latin1"))) this.found = "application/pdf";
    else if (first.subarray(0, 8).equals(PNG_SIGNATURE)) {
      this.found = "image/png";
      this.reader = readPng();
    } else if (first.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))) {
      this.found = "image/jpeg";
      this.reader = readJpeg();
    } else throw wrong(notTaken(first));
    this.step();
  }

  private searchPdf(bytes: Buffer): void {
    const joined = Buffer.concat([this.tail, bytes]);
    if (joined.includes("/Encrypt"))
      throw wrong("This PDF is protected by a password, so nobody who decides could read it. Save it without one.");
    // PDF readers search for the end marker in the last kilobyte.
    this.tail = joined.subarray(-1024);
  }

  /** Gives the reader the bytes it needs, one request after another. */
  private follow(bytes: Buffer): void {
    let rest = this.held.length > 0 ? Buffer.concat([this.held, bytes]) : bytes;
    while (this.wish !== undefined) {
      const { wish } = this;
      if ("skip" in wish) {
        const skipped = Math.min(wish.skip, rest.length);
        rest = rest.subarray(skipped);
        if (skipped < wish.skip) {
          this.wish = { skip: wish.skip - skipped };
          break;
        }
        this.step();
      } else if ("read" in wish) {
        if (rest.length < wish.read) break;
        const read = rest.subarray(0, wish.read);
        rest = rest.subarray(wish.read);
        this.step(read);
      } else {
        const at = rest.indexOf(wish.past);
        if (at < 0) {
          rest = rest.subarray(Math.max(0, rest.length - wish.past.length + 1));
          break;
        }
        rest = rest.subarray(at + wish.past.length);
        this.step();
      }
    }
    if (this.wish === undefined) {
      if (this.found === "image/png" && rest.length > 0)
        throw wrong("Something stands behind the end of this PNG that does not belong to it. Save the picture anew.");
      rest = NOTHING;
    }
    this.held = Buffer.from(rest);
  }

  private step(read: Buffer = NOTHING): void {
    const next = this.reader?.next(read);
    this.wish = next?.done === false ? next.value : undefined;
  }
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const JPEG_END = Buffer.from([0xff, 0xd9]);

/** Reads a PNG chunk by chunk to its end. */
function* readPng(): Reader {
  yield { skip: PNG_SIGNATURE.length };
  let hasPixels = false;
  for (let isFirst = true; ; isFirst = false) {
    const head = yield { read: 8 };
    const length = head.readUInt32BE(0);
    const type = head.toString("latin1", 4);
    if (!/^[A-Za-z]{4}$/.test(type) || length > 0x7fff_ffff || isFirst !== (type === "IHDR")) throw damaged("PNG");
    if (type === "IEND") {
      if (length !== 0 || !hasPixels) throw damaged("PNG");
      yield { skip: 4 };
      return;
    }
    if (type === "IHDR") {
      if (length !== 13) throw damaged("PNG");
      const facts = yield { read: 13 };
      judgeSize("PNG", facts.readUInt32BE(0), facts.readUInt32BE(4));
      const [depth, colour, compression, filter, interlace] = facts.subarray(8);
      const depths = { 0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16] }[colour as number];
      if (!depths?.includes(depth as number) || compression !== 0 || filter !== 0 || (interlace as number) > 1)
        throw damaged("PNG");
      yield { skip: 4 };
    } else {
      hasPixels ||= type === "IDAT";
      yield { skip: length + 4 };
    }
  }
}

/** Reads a JPEG segment by segment to its pixels, then searches for their end. Data behind it is allowed: cameras put some there. */
function* readJpeg(): Reader {
  yield { skip: 2 };
  for (let isSized = false; ;) {
    let [lead, marker] = yield { read: 2 };
    if (lead !== 0xff) throw damaged("JPEG");
    while (marker === 0xff) [marker] = yield { read: 1 };
    if (marker === undefined || marker < 0xc0 || (marker >= 0xd0 && marker <= 0xd9)) throw damaged("JPEG");
    const length = (yield { read: 2 }).readUInt16BE(0) - 2;
    if (length < 0) throw damaged("JPEG");
    const isFrame = marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame && length >= 6) {
      const facts = yield { read: 5 };
      judgeSize("JPEG", facts.readUInt16BE(3), facts.readUInt16BE(1));
      isSized = true;
      yield { skip: length - 5 };
    } else yield { skip: length };
    if (marker === 0xda) {
      if (!isSized) throw damaged("JPEG");
      yield { past: JPEG_END };
      return;
    }
  }
}

function judgeSize(what: string, width: number, height: number): void {
  if (width === 0 || height === 0) throw damaged(what);
  if (width * height <= PIXELS_MAX && width <= SIDE_MAX && height <= SIDE_MAX) return;
  throw wrong(
    `This ${what} is ${width} × ${height} pixels large. At most 50 million pixels are taken, and 20,000 on a side: make it smaller.`,
  );
}

function notTaken(first: Buffer): string {
  const found = others.find(([at, beginning]) => first.toString("latin1", at, at + beginning.length) === beginning);
  if (found) return found[2];
  const text = first.toString("latin1").trimStart().toLowerCase();
  if (/^(<!doctype html|<html|<script|<svg|<\?xml)/.test(text))
    return `This is a web page or a drawing in text. ${SEND}`;
  if (/^[\t\n\r -~\x80-\xff]+$/.test(text)) return "This is a text. Write it into the statement, or save it as a PDF.";
  return `This is neither a PDF nor a PNG nor a JPEG, whatever its name says. ${SEND}`;
}
