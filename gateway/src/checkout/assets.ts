// The style and the script of payers' pages, and the merchants' colours as styles: pages then need no style or script of their own inside.
import type { FastifyInstance } from "fastify";
import { Fault } from "../ground/fault.ts";
import { FOR_GOOD, SCRIPT_TYPE, STYLE_TYPE, readAsset, sendAsset } from "../http/page-assets.ts";

const style = readAsset(new URL("browser/checkout.css", import.meta.url), STYLE_TYPE);
const script = readAsset(new URL("browser/checkout.js", import.meta.url), SCRIPT_TYPE);

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

/** All of them are named by their content, so a browser keeps them for good. */
export function openCheckoutAssets(server: FastifyInstance): void {
  server.get(`${BELOW}/:name`, (request, reply) => {
    const { name = "" } = request.params as { name?: string };
    const [, colour] = /^colour-([0-9a-f]{6})\.css$/.exec(name) ?? [];
    if (colour !== undefined) {
      const rule = `:root{--brand:#${colour};--on-brand:${inkOn(`#${colour}`)}}`;
      return reply.headers({ ...FOR_GOOD, "content-type": STYLE_TYPE }).send(rule);
    }
    const asset = [style, script].find((one) => one.name === name);
    if (!asset) throw new Fault("ROUTE_NOT_FOUND");
    return sendAsset(reply, asset);
  });
}
