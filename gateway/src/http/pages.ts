// Serves built pages, those of the portal or of the console: which file an address means, in which encoding, for how long it may be kept.
import { hash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { extname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Fault } from "../ground/fault.ts";

/** Where portal/build.ts leaves its builds: a folder each, and `current`, which names the one to serve. */
const BUILDS = fileURLToPath(new URL("../../../portal/dist/", import.meta.url));

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
  ".json": "application/json; charset=utf-8",
};

/** What the pages may do: run and show what comes from here, and nothing else. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** One file in all the encodings that it was built in. */
interface Page {
  type: string;
  etag: string;
  /** Named by its content: it never changes under its name. */
  immutable: boolean;
  bytes: Buffer;
  br: Buffer | undefined;
  gzip: Buffer | undefined;
}

/** All files of the builds by their address below that of the pages. They are small, and held in memory. */
class Pages {
  private readonly folder: string;
  private readonly face: string;
  private name: string | undefined;
  private files = new Map<string, Page>();

  constructor(folder: string, face: string) {
    this.folder = folder;
    this.face = face;
  }

  /** The page that every address shows; undefined when nothing is built. */
  index(): Page | undefined {
    this.refresh();
    return this.files.get("index.html");
  }

  file(path: string): Page | undefined {
    if (this.name === undefined) this.refresh();
    return this.files.get(path);
  }

  /** Reads the files again when another build is the current one. */
  private refresh(): void {
    const current = readOrNothing(join(this.folder, "current"))?.toString("utf8");
    if (current === undefined || current === this.name) return;
    const files = new Map<string, Page>();
    // Who is open over an upgrade still asks for files of the builds before. Those of the current one go over them.
    const older = readdirSync(this.folder, { withFileTypes: true }).filter(
      ({ name }) => name !== current && /^[0-9a-f]+$/.test(name),
    );
    for (const entry of older) {
      if (entry.isDirectory()) readBuild(join(this.folder, entry.name, this.face), files, true);
    }
    readBuild(join(this.folder, current, this.face), files, false);
    if (!files.has("index.html")) return;
    this.files = files;
    this.name = current;
  }
}

function readBuild(folder: string, into: Map<string, Page>, immutableOnly: boolean): void {
  for (const entry of listOrNothing(folder)) {
    const file = join(entry.parentPath, entry.name);
    const type = TYPES[extname(file)];
    const path = relative(folder, file).replaceAll("\\", "/");
    const immutable = path.startsWith("assets/");
    const bytes = type !== undefined && entry.isFile() && (immutable || !immutableOnly) && readOrNothing(file);
    if (!bytes || type === undefined) continue;
    const etag = `"${hash("sha256", bytes).slice(0, 24)}"`;
    const [br, gzip] = [readOrNothing(`${file}.br`), readOrNothing(`${file}.gz`)];
    into.set(path, { type, etag, immutable, bytes, br, gzip });
  }
}

function readOrNothing(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined; // not built, or another start removes old builds at this moment
  }
}

function listOrNothing(folder: string) {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true });
  } catch {
    return [];
  }
}

/**
 * Opens the pages of a face, at the address that is called like it: every address below it but those of files, and of `v1`, which is an API's.
 * Each face has a folder of its own among the builds.
 */
export function openPages(server: FastifyInstance, face: "portal" | "console", folder: string = BUILDS): void {
  const pages = new Pages(folder, face);
  const root = `/${face}`;
  const index = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const page = pages.index();
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

function sendPage(request: FastifyRequest, reply: FastifyReply, page: Page): FastifyReply {
  reply.headers(HEADERS).headers({
    etag: page.etag,
    vary: "accept-encoding",
    "cache-control": page.immutable ? "public, max-age=31536000, immutable" : "no-cache",
  });
  if (request.headers["if-none-match"]?.includes(page.etag)) return reply.code(304).send();
  const accepted = request.headers["accept-encoding"] ?? "";
  const encoding =
    page.br && accepts(accepted, "br") ? "br" : page.gzip && accepts(accepted, "gzip") ? "gzip" : "bytes";
  if (encoding !== "bytes") reply.header("content-encoding", encoding);
  return reply.header("content-type", page.type).send(page[encoding]);
}

/** True where the header names the encoding and does not refuse it by a weight of 0. */
function accepts(header: string, encoding: string): boolean {
  return header.split(",").some((part) => {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

const NOT_BUILT = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>The pages are not built</title></head>
<body><h1>The pages are not built yet</h1>
<p><code>npm start</code> builds them before the service starts, and <code>npm run build</code> at any time. Then load this page again.</p></body></html>
`;

function sendNotBuilt(reply: FastifyReply): FastifyReply {
  return reply
    .code(503)
    .headers({ ...HEADERS, "retry-after": "5", "content-type": TYPES[".html"] })
    .send(NOT_BUILT);
}
