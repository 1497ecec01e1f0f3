// Serves the pages of the portal and of the console: one index file for every address, and the files that it loads.
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Fault } from "../ground/fault.ts";
import { type BuiltPage, BuiltPages, sendNotBuilt, sendPage, withText } from "./built-pages.ts";

/** Output folder of portal/build.ts: one folder for each build, and the file `current`, which names the build to serve. */
const BUILDS = fileURLToPath(new URL("../../../portal/dist/", import.meta.url));

/** Where the index says who runs the service. The pages take the name from there. */
const NAME = /(<title>|<meta name="application-name" content=")Gerbang/g;

/**
 * Serves a face (portal or console) at the path of its name: the index at every address below it, except those of files and of its API.
 * Each build has a folder for each face. `serviceName` has no characters that HTML would escape.
 */
export function openPages(
  server: FastifyInstance,
  face: "portal" | "console",
  serviceName: string,
  folder: string = BUILDS,
): void {
  const pages = new BuiltPages(folder, face);
  const root = `/${face}`;
  let named: { from: BuiltPage; page: BuiltPage } | undefined;
  const index = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const from = pages.current();
    if (!from) return sendNotBuilt(reply);
    if (named?.from !== from) {
      const text = from.bytes.toString("utf8").replaceAll(NAME, (_, before: string) => before + serviceName);
      named = { from, page: withText(from, text) };
    }
    return sendPage(request, reply, named.page);
  };
  const file = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const [path = ""] = request.url.slice(root.length + 1).split("?");
    const page = pages.file(path);
    if (!page) throw new Fault("ROUTE_NOT_FOUND");
    return sendPage(request, reply, page);
  };
  // Whoever types the address alone means the pages.
  server.get("/", (_request, reply) => reply.redirect(root));
  server.get(root, index);
  server.get(`${root}/`, index);
  server.get(`${root}/assets/:file`, file);
  for (const name of ["theme.js", "favicon.svg"]) server.get(`${root}/${name}`, file);
  // The page itself reports an unknown address.
  server.get(`${root}/:page(^(?!v1$).+$)`, index);
  server.get(`${root}/:page(^(?!v1$|assets$).+$)/*`, index);
}
