// Serves the documentation to everybody: /docs with its pages as HTML and Markdown and its feed, /llms.txt and /llms-full.txt.
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { BuiltPages, type BuiltPage, PAGE_HEADERS, sendNotBuilt, sendPage, withText } from "../http/built-pages.ts";

/** Folder of the builds of docs/site/build.ts. */
const BUILDS = fileURLToPath(new URL("../../../docs/site/dist/", import.meta.url));

/** Placeholder in builds for the address of the service, which they do not know. The domain `.invalid` is reserved, so nobody can own it. */
export const ROOT_IN_BUILDS = "https://gerbang.invalid";

/** Files that may contain the placeholder, because they name absolute addresses. */
const namesAddresses = (file: string): boolean => /^(?:llms(?:-full)?\.txt|changelog\.rss|.+\.md)$/.test(file);

interface DocsParts {
  /** The public address, without a slash at its end. */
  root: () => string;
  folder?: string;
}

export function openDocs(server: FastifyInstance, { root, folder = BUILDS }: DocsParts): void {
  const pages = new BuiltPages(folder, "docs");
  const addressed = new Addressed(root);
  const named = (name: string) => (request: FastifyRequest, reply: FastifyReply) => {
    const page = pages.current(name);
    return page ? sendPage(request, reply, addressed.of(name, page)) : sendNotBuilt(reply);
  };
  server.get("/docs", named("index.html"));
  server.get("/docs/", named("index.html"));
  for (const name of ["llms.txt", "llms-full.txt"]) server.get(`/${name}`, named(name));
  server.get("/docs/*", (request, reply) => {
    const [path = ""] = request.url.slice("/docs/".length).split("?");
    if (path.startsWith("assets/")) {
      const asset = pages.file(path);
      return asset ? sendPage(request, reply, asset) : sendMissing(reply, pages);
    }
    if (path === "changelog.rss") return named(path)(request, reply);
    if (path.startsWith("files/")) {
      const file = pages.current(path);
      return file ? sendPage(request, reply, file) : sendMissing(reply, pages);
    }
    const file = path.endsWith(".md") ? path : `${path}.html`;
    const page = isPublished(path) ? pages.current(file) : undefined;
    if (page) return sendPage(request, reply, addressed.of(file, page));
    const whole = path.replace(/\/+$/, "");
    // Redirects only to existing pages, so that the Location header never names an address that a caller made up.
    if (whole !== path && pages.current(`${whole}.html`)) return reply.redirect(`/docs/${whole}`, 308);
    return sendMissing(reply, pages);
  });
}

/** False for the index, whose address is /docs, and for the 404 page, which has no address. */
const isPublished = (path: string): boolean => path !== "index" && path !== "404";

function sendMissing(reply: FastifyReply, pages: BuiltPages): FastifyReply {
  const page = pages.current("404.html");
  if (!page) return sendNotBuilt(reply);
  return reply
    .code(404)
    .headers({ ...PAGE_HEADERS, "content-type": page.type, "cache-control": "no-store" })
    .send(page.bytes);
}

/** Replaces the placeholder in files by the service's address. Caches each result until the file or the address changes. */
class Addressed {
  private readonly root: () => string;
  private readonly kept = new Map<string, { from: BuiltPage; root: string; page: BuiltPage }>();

  constructor(root: () => string) {
    this.root = root;
  }

  of(name: string, from: BuiltPage): BuiltPage {
    if (!namesAddresses(name)) return from;
    const root = this.root();
    const kept = this.kept.get(name);
    if (kept?.from === from && kept.root === root) return kept.page;
    const text = from.bytes.toString("utf8");
    const page = text.includes(ROOT_IN_BUILDS) ? withText(from, text.replaceAll(ROOT_IN_BUILDS, root)) : from;
    this.kept.set(name, { from, root, page });
    return page;
  }
}
