// A QR code as a picture: lines for a page, and a file that a phone keeps among its photos. Pure.
import { crc32, deflateSync } from "node:zlib";
import { encode } from "uqr";
import { type Html, html } from "../ground/html.ts";

/** Light modules around the code, as its standard demands. */
const QUIET = 4;
/** Pixels of one module in the file. */
const SCALE = 10;

/** Rows of modules, true where dark, with the quiet zone. */
function modulesOf(text: string): boolean[][] {
  return encode(text, { ecc: "M", border: QUIET }).data;
}

/** As SVG: one path, so that it is sharp at any size. */
export function qrSvg(text: string, label: string): Html {
  const rows = modulesOf(text);
  const size = rows.length;
  const path = rows.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join("");
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

/** As a PNG with one bit a pixel. */
export function qrPng(text: string): Buffer {
  const rows = modulesOf(text);
  const width = rows.length * SCALE;
  const stride = Math.ceil(width / 8);
  const lines = rows.map((row) => {
    // The first byte says that the line is not filtered; a bit is set where the picture is white.
    const line = Buffer.alloc(1 + stride);
    for (let x = 0; x < width; x++) if (row[Math.floor(x / SCALE)] !== true) line[1 + (x >> 3)]! |= 0x80 >> (x & 7);
    return line;
  });
  const pixels = Buffer.concat(lines.flatMap((line) => Array.from({ length: SCALE }, () => line)));
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(width, 4);
  header[8] = 1; // bits a pixel; the colour type behind it is 0: grey
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
