// The pages of the portal and of the console: one index for every address of theirs, and its files.
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Fault } from "../ground/fault.ts";
import { BuiltPages, sendNotBuilt, sendPage } from "./built-pages.ts";

/** Where portal/build.ts leaves its builds: a folder each, and `current`, which names the one to serve. */
const BUILDS = fileURLToPath(new URL("../../../portal/dist/", import.meta.url));

/**
 * Opens the pages of a face, at the address that is called like it: every address below it but those of files, and of `v1`, which is an API's.
 * Each face has a folder of its own among the builds.
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
  // What is no address of a page is told by the page itself.
  server.get(`${root}/:page(^(?!v1$).+$)`, index);
  server.get(`${root}/:page(^(?!v1$|assets$).+$)/*`, index);
}
