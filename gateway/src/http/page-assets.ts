// Styles and scripts of pages that the service writes itself: named by their content, so that a browser keeps them for good, and compressed once.
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";

export interface PageAsset {
  name: string;
  type: string;
  encoded: Readonly<Record<Encoding, Buffer>>;
}

export type Encoding = "br" | "gzip" | "identity";

export const STYLE_TYPE = "text/css; charset=utf-8";
export const SCRIPT_TYPE = "text/javascript; charset=utf-8";

/** A file of the program's own. */
export function readAsset(file: URL, type: string): PageAsset {
  const bytes = readFileSync(file);
  const [base, extension] = (file.pathname.split("/").at(-1) ?? "").split(".");
  const name = `${base}.${hash("sha256", bytes, "hex").slice(0, 12)}.${extension}`;
  return { name, type, encoded: { br: brotliCompressSync(bytes), gzip: gzipSync(bytes), identity: bytes } };
}

export const FOR_GOOD = { "cache-control": "public, max-age=31536000, immutable", "x-content-type-options": "nosniff" };

/** The best encoding that whoever asks understands. */
export function encodingFor({ headers }: FastifyRequest): Encoding {
  const accepted = headers["accept-encoding"] ?? "";
  return (["br", "gzip"] as const).find((one) => accepted.includes(one)) ?? "identity";
}

/** What tells the encoding of an answer. */
export function encodingHeaders(encoding: Encoding): Record<string, string> {
  return encoding === "identity" ? {} : { "content-encoding": encoding };
}

export function sendAsset(reply: FastifyReply, asset: PageAsset): FastifyReply {
  const encoding = encodingFor(reply.request);
  return reply
    .headers({ ...FOR_GOOD, "content-type": asset.type, vary: "accept-encoding", ...encodingHeaders(encoding) })
    .send(asset.encoded[encoding]);
}
