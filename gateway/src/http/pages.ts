// Serves the pages of the portal and of the console: one index file for every address, and the files that it loads.
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Fault } from "../ground/fault.ts";
import { BuiltPages, sendNotBuilt, sendPage } from "./built-pages.ts";

/** Output folder of portal/build.ts: one folder for each build, and the file `current`, which names the build to serve. */
const BUILDS = fileURLToPath(new URL("../../../portal/dist/", import.meta.url));

/**
 * Serves a face (portal or console) at the path of its name: the index at every address below it, except those of files and of its API.
 * Each build has a folder for each face.
 */
export function openPages(server: FastifyInstance, face: "portal" | "console", folder: string = BUILDS): void {
  const pages = new BuiltPages(folder, face);
  const root = `/${face}`;
  const index = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const page = pages.current();
    return page ? sendPage(request, reply, page) : sendNotBuilt(reply);
  };
  const file = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const [path = ""] = request.url.slice(root.length + 1).split("?");
    const page = pages.file(path);
    if (!page) throw new Fault("ROUTE_NOT_FOUND");
    return sendPage(request, reply, page);
  };
  server.get(root, index);
  server.get(`${root}/`, index);
  server.get(`${root}/assets/:file`, file);
  for (const name of ["theme.js", "favicon.svg"]) server.get(`${root}/${name}`, file);
  // The page itself reports an unknown address.
  server.get(`${root}/:page(^(?!v1$).+$)`, index);
  server.get(`${root}/:page(^(?!v1$|assets$).+$)/*`, index);
}
