// Serves the stylesheet and the script of payers' pages, and a stylesheet for each merchant's colour, so that pages need no inline style or script.
import type { FastifyInstance } from "fastify";
import { FOR_GOOD, SCRIPT_TYPE, STYLE_TYPE, readAsset, sendAsset } from "../http/page-assets.ts";

const style = readAsset(new URL("browser/checkout.css", import.meta.url), STYLE_TYPE);
const script = readAsset(new URL("browser/checkout.js", import.meta.url), SCRIPT_TYPE);

const BELOW = "/checkout";
export const STYLE_PATH = `${BELOW}/${style.name}`;
export const SCRIPT_PATH = `${BELOW}/${script.name}`;

/** Path of the stylesheet of a merchant's colour. `colour`: # and six hex digits. */
export const colourPath = (colour: string): string => `${BELOW}/colour-${colour.slice(1).toLowerCase()}.css`;

/** Black or white, whichever has more contrast on a colour. At a WCAG luminance of 0.179 both have the same. */
export function inkOn(colour: string): "#000" | "#fff" {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000" : "#fff";
}

/** Opens the routes of the assets. Their names depend on their content, so browsers may cache them for good. */
export function openCheckoutAssets(server: FastifyInstance): void {
  server.get(`${BELOW}/:name`, (request, reply) => {
    const { name = "" } = request.params as { name?: string };
    const [, colour] = /^colour-([0-9a-f]{6})\.css$/.exec(name) ?? [];
    if (colour !== undefined) {
      const rule = `:root{--brand:#${colour};--on-brand:${inkOn(`#${colour}`)}}`;
      return reply.headers({ ...FOR_GOOD, "content-type": STYLE_TYPE }).send(rule);
    }
    return sendAsset(reply, [style, script], name);
  });
}
