// Styles and scripts of pages that the service renders: named by a hash of their content, to be cached without limit, and compressed once.
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { FastifyReply } from "fastify";
import { Fault } from "../ground/fault.ts";
import { accepts } from "./accepted-encoding.ts";

interface PageAsset {
  name: string;
  type: string;
  encoded: Readonly<Record<"br" | "gzip" | "identity", Buffer>>;
}

export const STYLE_TYPE = "text/css; charset=utf-8";
export const SCRIPT_TYPE = "text/javascript; charset=utf-8";

/** Reads a file of the program and compresses it. */
export function readAsset(file: URL, type: string): PageAsset {
  const bytes = readFileSync(file);
  const [base, extension] = (file.pathname.split("/").at(-1) ?? "").split(".");
  const name = `${base}.${hash("sha256", bytes, "hex").slice(0, 12)}.${extension}`;
  return { name, type, encoded: { br: brotliCompressSync(bytes), gzip: gzipSync(bytes), identity: bytes } };
}

export const FOR_GOOD = { "cache-control": "public, max-age=31536000, immutable", "x-content-type-options": "nosniff" };

/** Sends the asset of this name in the best encoding that the client accepts. Throws ROUTE_NOT_FOUND when none has it. */
export function sendAsset(reply: FastifyReply, assets: readonly PageAsset[], name: string): FastifyReply {
  const asset = assets.find((one) => one.name === name);
  if (!asset) throw new Fault("ROUTE_NOT_FOUND");
  const { type, encoded } = asset;
  const encoding = (["br", "gzip"] as const).find((one) => accepts(reply.request, one));
  if (encoding) reply.header("content-encoding", encoding);
  return reply
    .headers({ ...FOR_GOOD, "content-type": type, vary: "accept-encoding" })
    .send(encoded[encoding ?? "identity"]);
}
