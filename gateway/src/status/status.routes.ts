// The public endpoints /status, /status.json and /status.rss. They answer whether or not the database does.
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { accepts } from "../http/accepted-encoding.ts";
import { stopwatchMs } from "../ground/clock.ts";
import { type Language, languageOf } from "../ground/languages.ts";
import type { RoutingTable } from "../routing/routing.ts";
import type { Environment } from "../merchants/books.ts";
import { openStatusAssets } from "./assets.ts";
import type { Board } from "./board.ts";
import { statusFeed } from "./feed.ts";
import { statusPage } from "./page.ts";
import { statusJson } from "./status.schema.ts";
import { type StatusView, statusView } from "./view.ts";

export interface StatusParts {
  board: Board;
  serviceName: string;
  /** The public address, without a trailing slash. */
  root: () => string;
  routingTable: () => RoutingTable;
  /** The environment whose acquirers are shown. */
  environment: () => Environment;
}

type Form = `html ${Language}` | "json" | "rss";

const types: Readonly<Record<"html" | "json" | "rss", string>> = {
  html: "text/html; charset=utf-8",
  json: "application/json; charset=utf-8",
  rss: "application/rss+xml; charset=utf-8",
};
const SECURE = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "content-security-policy":
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
};
/** How long browsers and proxies may cache an answer: less while the database does not answer. */
const KEPT_SECONDS = 10;
const KEPT_FROM_MEMORY_SECONDS = 2;
/** A rendered page is shared for this time by all readers. */
const WRITTEN_MS = 1_000;

/** The current view of the status page. */
export async function readStatus({ board, routingTable, environment }: StatusParts): Promise<StatusView> {
  const known = await board.read();
  const { acquirers } = routingTable();
  const ours = acquirers.filter((one) => one.environment === environment());
  return statusView(known, new Set(ours.flatMap((one) => one.capabilities.map(({ method }) => method))));
}

export function openStatus(server: FastifyInstance, parts: StatusParts): void {
  openStatusAssets(server);
  const pages = new WrittenPages(parts);
  server.get("/status", (request, reply) => {
    const { lang } = request.query as { lang?: unknown };
    const language = languageOf(typeof lang === "string" ? lang : undefined, request.headers["accept-language"]);
    return send(request, reply, "html", pages.written(`html ${language}`));
  });
  server.get("/status.json", (request, reply) => send(request, reply, "json", pages.written("json")));
  server.get("/status.rss", (request, reply) => send(request, reply, "rss", pages.written("rss")));
}

interface Written {
  plain: Buffer;
  zipped: Buffer;
  isFromMemory: boolean;
}

/** Rendered pages, shared by all readers for WRITTEN_MS. */
class WrittenPages {
  private readonly parts: StatusParts;
  private readonly kept = new Map<Form, { at: number; page: Promise<Written> }>();

  constructor(parts: StatusParts) {
    this.parts = parts;
  }

  written(form: Form): Promise<Written> {
    const kept = this.kept.get(form);
    if (kept && stopwatchMs() - kept.at < WRITTEN_MS) return kept.page;
    const page = this.write(form);
    this.kept.set(form, { at: stopwatchMs(), page });
    return page;
  }

  private async write(form: Form): Promise<Written> {
    const view = await readStatus(this.parts);
    const plain = Buffer.from(this.textOf(form, view));
    return { plain, zipped: await promisify(gzip)(plain), isFromMemory: view.isFromMemory };
  }

  private textOf(form: Form, view: StatusView): string {
    const { serviceName, root } = this.parts;
    if (form === "json") return `${JSON.stringify(statusJson(view, serviceName))}\n`;
    if (form === "rss") return statusFeed(view, serviceName, root());
    return statusPage(view, form === "html id" ? "id" : "en", serviceName);
  }
}

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  kind: keyof typeof types,
  page: Promise<Written>,
): Promise<FastifyReply> {
  const { plain, zipped, isFromMemory } = await page;
  const takesZipped = accepts(request, "gzip");
  return reply
    .headers({
      ...SECURE,
      "content-type": types[kind],
      "cache-control": `public, max-age=${isFromMemory ? KEPT_FROM_MEMORY_SECONDS : KEPT_SECONDS}`,
      vary: kind === "html" ? "accept-language, accept-encoding" : "accept-encoding",
      // Lets pages of other origins read the JSON and the feed.
      ...(kind === "html" ? {} : { "access-control-allow-origin": "*" }),
      ...(takesZipped ? { "content-encoding": "gzip" } : {}),
    })
    .send(takesZipped ? zipped : plain);
}
