// Recognizes whole PNG and JPEG pictures by their bytes, never by a file name, and reads their size. Nothing is decoded.
import { crc32 } from "node:zlib";

export interface Picture {
  type: "image/png" | "image/jpeg";
  /** Pixels. */
  width: number;
  height: number;
}

/** The problem with bytes that should be a picture, as a sentence for people. */
interface NoPicture {
  problem: string;
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const NEITHER: NoPicture = { problem: "This is neither a PNG nor a JPEG." };
const CUT_OFF: NoPicture = { problem: "The picture is cut off or damaged." };
const MORE: NoPicture = { problem: "The picture is followed by something that is no part of it." };

/** Gives the type and size of a picture, or its problem. Decoding takes memory for `width` × `height` pixels, so the caller must bound them. */
export function judgePicture(bytes: Buffer): Picture | NoPicture {
  if (bytes.subarray(0, PNG.length).equals(PNG)) return judgePng(bytes);
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return judgeJpeg(bytes);
  return NEITHER;
}

/** Checks the chunks of a PNG: a header first, a right checksum in each, and nothing after the end. */
function judgePng(bytes: Buffer): Picture | NoPicture {
  let size: { width: number; height: number } | undefined;
  let hasPixels = false;
  for (let at = PNG.length; ;) {
    if (at + 12 > bytes.length) return CUT_OFF;
    const length = bytes.readUInt32BE(at);
    const end = at + 12 + length;
    if (end > bytes.length) return CUT_OFF;
    const kind = bytes.toString("latin1", at + 4, at + 8);
    if (crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) return CUT_OFF;
    if ((kind === "IHDR") !== (size === undefined)) return CUT_OFF;
    if (kind === "IHDR") {
      if (length !== 13) return CUT_OFF;
      size = { width: bytes.readUInt32BE(at + 8), height: bytes.readUInt32BE(at + 12) };
    }
    if (kind === "IDAT") hasPixels = true;
    if (kind === "IEND") return end !== bytes.length ? MORE : sized("image/png", hasPixels ? size : undefined);
    at = end;
  }
}

/** Checks the segments of a JPEG up to its pixels, and that nothing follows the end mark. */
function judgeJpeg(bytes: Buffer): Picture | NoPicture {
  let size: { width: number; height: number } | undefined;
  for (let at = 2; ;) {
    if (at + 4 > bytes.length || bytes[at] !== 0xff) return CUT_OFF;
    const marker = bytes[at + 1] as number;
    if (marker === 0xff) {
      at++; // a fill byte
      continue;
    }
    const length = bytes.readUInt16BE(at + 2);
    const end = at + 2 + length;
    if (length < 2 || end > bytes.length) return CUT_OFF;
    if (isFrame(marker)) {
      if (length < 8) return CUT_OFF;
      size = { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    }
    if (marker === 0xda) return sized("image/jpeg", endsAt(bytes, end) === bytes.length ? size : undefined);
    at = end;
  }
}

/** True for the segments with a picture's size: SOF0 to SOF15, except those of tables. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

/** The position after the last end mark at or behind `from`, where the pixels begin; -1 when there is none. */
function endsAt(bytes: Buffer, from: number): number {
  const at = bytes.lastIndexOf(Buffer.from([0xff, 0xd9]));
  return at < from ? -1 : at + 2;
}

function sized(type: Picture["type"], size: { width: number; height: number } | undefined): Picture | NoPicture {
  return size && size.width > 0 && size.height > 0 ? { type, ...size } : CUT_OFF;
}
