// Serves prebuilt pages: finds the file of a build for an address, chooses its encoding and says how long it may be cached.
import { hash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { extname, join, relative } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { accepts } from "./accepted-encoding.ts";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
  ".json": "application/json; charset=utf-8",
  ".md": "text/markdown; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".rss": "application/rss+xml; charset=utf-8",
  ".tgz": "application/gzip",
};

/** Lets the pages run and show only what comes from the service itself. */
const CONTENT_SECURITY_POLICY = [
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

export const PAGE_HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** One file in all encodings of the build. */
export interface BuiltPage {
  type: string;
  etag: string;
  /** True when the name contains a hash of the content, so that the file never changes. */
  immutable: boolean;
  bytes: Buffer;
  br: Buffer | undefined;
  gzip: Buffer | undefined;
}

/** Holds all files of the builds in memory, by their address below that of the pages. They are small. */
export class BuiltPages {
  private readonly folder: string;
  private readonly face: string;
  private name: string | undefined;
  private files = new Map<string, BuiltPage>();

  /** `folder` contains the builds; `face` is the folder of these pages in each build. */
  constructor(folder: string, face: string) {
    this.folder = folder;
    this.face = face;
  }

  /** Gives a file of the current build, by default the index. Reads a newer build first. Undefined when nothing is built. */
  current(path = "index.html"): BuiltPage | undefined {
    this.refresh();
    return this.files.get(path);
  }

  /** Gives a file of any build, without looking for a newer build. */
  file(path: string): BuiltPage | undefined {
    if (this.name === undefined) this.refresh();
    return this.files.get(path);
  }

  /** Reads the files again when `current` names another build. */
  private refresh(): void {
    const current = readOrNothing(join(this.folder, "current"))?.toString("utf8");
    if (current === undefined || current === this.name) return;
    const files = new Map<string, BuiltPage>();
    // Pages that stay open over an upgrade still request files of older builds. Files of the current build replace those of the same name.
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

function readBuild(folder: string, into: Map<string, BuiltPage>, immutableOnly: boolean): void {
  for (const entry of listOrNothing(folder)) {
    const file = join(entry.parentPath, entry.name);
    const path = relative(folder, file).replaceAll("\\", "/");
    // Files to take are shown as text, unless they are packages: no browser runs or draws them. Their compressed forms are no files of their own.
    const isText = path.startsWith("files/") && !/\.(br|gz|tgz)$/.test(path);
    const type = isText ? TYPES[".txt"] : TYPES[extname(file)];
    const immutable = path.startsWith("assets/");
    const bytes = type !== undefined && entry.isFile() && (immutable || !immutableOnly) && readOrNothing(file);
    if (!bytes || type === undefined) continue;
    const etag = etagOf(bytes);
    const [br, gzip] = [readOrNothing(`${file}.br`), readOrNothing(`${file}.gz`)];
    into.set(path, { type, etag, immutable, bytes, br, gzip });
  }
}

const etagOf = (bytes: Buffer): string => `"${hash("sha256", bytes).slice(0, 24)}"`;

/** The same page with another text. */
export function withText(page: BuiltPage, text: string): BuiltPage {
  const bytes = Buffer.from(text);
  return {
    ...page,
    etag: etagOf(bytes),
    bytes,
    br: page.br && brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
    gzip: page.gzip && gzipSync(bytes),
  };
}

function readOrNothing(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined; // not built, or another process is removing old builds
  }
}

function listOrNothing(folder: string) {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true });
  } catch {
    return [];
  }
}

/** Sends a file in the best accepted encoding, or 304 when the browser has it. */
export function sendPage(request: FastifyRequest, reply: FastifyReply, page: BuiltPage): FastifyReply {
  reply.headers(PAGE_HEADERS).headers({
    etag: page.etag,
    vary: "accept-encoding",
    "cache-control": page.immutable ? "public, max-age=31536000, immutable" : "no-cache",
  });
  if (request.headers["if-none-match"]?.includes(page.etag)) return reply.code(304).send();
  const encoding = page.br && accepts(request, "br") ? "br" : page.gzip && accepts(request, "gzip") ? "gzip" : "bytes";
  if (encoding !== "bytes") reply.header("content-encoding", encoding);
  return reply.header("content-type", page.type).send(page[encoding]);
}

const NOT_BUILT = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>The pages are not built</title></head>
<body><h1>The pages are not built yet</h1>
<p><code>npm start</code> builds them before the service starts, and <code>npm run build</code> at any time. Then load this page again.</p></body></html>
`;

/** Answers 503 with the command that makes a build. */
export function sendNotBuilt(reply: FastifyReply): FastifyReply {
  return reply
    .code(503)
    .headers({ ...PAGE_HEADERS, "retry-after": "5", "content-type": TYPES[".html"] })
    .send(NOT_BUILT);
}
