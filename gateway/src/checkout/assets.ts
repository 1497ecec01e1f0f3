// The style and the script of payers' pages, and the merchants' colours as styles: pages then need no style or script of their own inside.
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { FastifyInstance } from "fastify";
import { Fault } from "../ground/fault.ts";

interface Asset {
  name: string;
  type: string;
  encoded: Readonly<Record<"br" | "gzip" | "identity", Buffer>>;
}

function read(file: string, type: string): Asset {
  const bytes = readFileSync(new URL(`browser/${file}`, import.meta.url));
  const [base, extension] = file.split(".");
  const name = `${base}.${hash("sha256", bytes, "hex").slice(0, 12)}.${extension}`;
  return { name, type, encoded: { br: brotliCompressSync(bytes), gzip: gzipSync(bytes), identity: bytes } };
}

const style = read("checkout.css", "text/css; charset=utf-8");
const script = read("checkout.js", "text/javascript; charset=utf-8");

const BELOW = "/checkout";
export const STYLE_PATH = `${BELOW}/${style.name}`;
export const SCRIPT_PATH = `${BELOW}/${script.name}`;

/** Where the style of a merchant's colour is. `colour`: # and six hex digits. */
export const colourPath = (colour: string): string => `${BELOW}/colour-${colour.slice(1).toLowerCase()}.css`;

/** Black or white, whichever is read better on a colour: by the luminance of WCAG, at which both have the same contrast. */
export function inkOn(colour: string): "#000" | "#fff" {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000" : "#fff";
}

const FOR_GOOD = { "cache-control": "public, max-age=31536000, immutable", "x-content-type-options": "nosniff" };

/** All of them are named by their content, so a browser keeps them for good. */
export function openCheckoutAssets(server: FastifyInstance): void {
  server.get(`${BELOW}/:name`, (request, reply) => {
    const { name = "" } = request.params as { name?: string };
    const [, colour] = /^colour-([0-9a-f]{6})\.css$/.exec(name) ?? [];
    if (colour !== undefined) {
      const rule = `:root{--brand:#${colour};--on-brand:${inkOn(`#${colour}`)}}`;
      return reply.headers({ ...FOR_GOOD, "content-type": style.type }).send(rule);
    }
    const asset = [style, script].find((one) => one.name === name);
    if (!asset) throw new Fault("ROUTE_NOT_FOUND");
    const accepted = request.headers["accept-encoding"] ?? "";
    const encoding = (["br", "gzip"] as const).find((one) => accepted.includes(one)) ?? "identity";
    return reply
      .headers({
        ...FOR_GOOD,
        "content-type": asset.type,
        vary: "accept-encoding",
        ...(encoding === "identity" ? {} : { "content-encoding": encoding }),
      })
      .send(asset.encoded[encoding]);
  });
}
