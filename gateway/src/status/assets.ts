// The style and the script of the status page.
import type { FastifyInstance } from "fastify";
import { SCRIPT_TYPE, STYLE_TYPE, readAsset, sendAsset } from "../http/page-assets.ts";

const style = readAsset(new URL("browser/status.css", import.meta.url), STYLE_TYPE);
const script = readAsset(new URL("browser/status.js", import.meta.url), SCRIPT_TYPE);

const BELOW = "/status";
export const STYLE_PATH = `${BELOW}/${style.name}`;
export const SCRIPT_PATH = `${BELOW}/${script.name}`;

export function openStatusAssets(server: FastifyInstance): void {
  server.get(`${BELOW}/:name`, (request, reply) => {
    const { name = "" } = request.params as { name?: string };
    return sendAsset(reply, [style, script], name);
  });
}
