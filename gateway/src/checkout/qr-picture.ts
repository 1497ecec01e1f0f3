// A QR code as a picture: SVG for a page, and PNG for a phone's photos. Pure.
import { crc32, deflateSync } from "node:zlib";
import { encode } from "uqr";
import { type Html, html } from "../ground/html.ts";

/** Width of the light margin (quiet zone) in modules, as the QR standard demands. */
const QUIET = 4;
/** Pixels of one module in the file. */
const SCALE = 10;

/** Rows of modules with the quiet zone; true is dark. */
function modulesOf(text: string): boolean[][] {
  return encode(text, { ecc: "M", border: QUIET }).data;
}

/** The code as SVG with one path, sharp at any size. */
export function qrSvg(text: string, label: string): Html {
  const rows = modulesOf(text);
  const size = rows.length;
  // One piece for each run of dark modules in a row: half the bytes of one for each module.
  const path = rows
    .flatMap((row, y) =>
      [...row.map(Number).join("").matchAll(/1+/g)].map((run) => `M${run.index} ${y}h${run[0].length}v1H${run.index}z`),
    )
    .join("");
  return html`<svg
    xmlns="http://www.w3.org/2000/svg"
    viewBox="0 0 ${size} ${size}"
    shape-rendering="crispEdges"
    role="img"
    aria-label="${label}"
  >
    <rect width="${size}" height="${size}" fill="#fff" />
    <path d="${path}" fill="#000" />
  </svg>`;
}

/** The code as PNG with one bit per pixel. */
export function qrPng(text: string): Buffer {
  const rows = modulesOf(text);
  const width = rows.length * SCALE;
  const stride = Math.ceil(width / 8);
  const lines = rows.map((row) => {
    // The first byte of a line is the PNG filter type, 0 for none. A set bit is a white pixel.
    const line = Buffer.alloc(1 + stride);
    for (let x = 0; x < width; x++) if (row[Math.floor(x / SCALE)] !== true) line[1 + (x >> 3)]! |= 0x80 >> (x & 7);
    return line;
  });
  const pixels = Buffer.concat(lines.flatMap((line) => Array.from({ length: SCALE }, () => line)));
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(width, 4);
  header[8] = 1; // bits per pixel; the colour type in the next byte stays 0, greyscale
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(pixels, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
