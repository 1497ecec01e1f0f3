// Goal: the documentation is served to everybody as it was built, no page of another site can hold it, and no file beside it is shown.
// Method: builds written by hand into a folder, a server on them, and requests as browsers and programs send them.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { bareServer } from "../../test/bare-server.ts";
import { ROOT_IN_BUILDS, openDocs } from "./docs.routes.ts";

const files = {
  "index.html": "<!doctype html>first",
  "404.html": "<!doctype html>none",
  "webhooks.html": "<!doctype html>webhooks",
  "webhooks.md": "# Webhooks",
  "events/payment.succeeded.html": "<!doctype html>event",
  "events/payment.succeeded.md": "# payment.succeeded",
  "assets/docs.0.css": "a { color: red }",
  "files/clients/php/Gerbang.php": "<?php // <script>",
  "files/sdk/vectors/page.html": "<!doctype html><script>",
  "llms.txt": `see ${ROOT_IN_BUILDS}/docs/webhooks.md`,
  "llms-full.txt": "all",
  "changelog.rss": `<link>${ROOT_IN_BUILDS}/docs/changelog</link><link>${ROOT_IN_BUILDS}/docs</link>`,
};

function serverOn(built: Record<string, string> = files, root = "https://pay.example") {
  const folder = mkdtempSync(join(tmpdir(), "docs-"));
  for (const [path, text] of Object.entries(built)) {
    const file = join(folder, "aa", "docs", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    writeFileSync(`${file}.br`, brotliCompressSync(text));
    writeFileSync(`${file}.gz`, gzipSync(text));
  }
  if (Object.keys(built).length > 0) writeFileSync(join(folder, "current"), "aa");
  const server = bareServer();
  openDocs(server, { root: () => root, folder });
  return server;
}

test("each page is there as HTML and as Markdown, for whoever asks", async () => {
  const server = serverOn();
  const expected = {
    "/docs": ["first", "text/html"],
    "/docs/": ["first", "text/html"],
    "/docs/webhooks": ["webhooks", "text/html"],
    "/docs/webhooks?from=search": ["webhooks", "text/html"],
    "/docs/webhooks.md": ["# Webhooks", "text/markdown"],
    "/docs/events/payment.succeeded": ["event", "text/html"],
    "/docs/events/payment.succeeded.md": ["# payment.succeeded", "text/markdown"],
  };
  for (const [url, [text, type]] of Object.entries(expected)) {
    const { statusCode, body, headers } = await server.inject(url);
    expect([url, statusCode, body.replace("<!doctype html>", "")]).toEqual([url, 200, text]);
    expect(headers["content-type"]).toBe(`${type}; charset=utf-8`);
    expect(headers["cache-control"]).toBe("no-cache");
  }
});

test("files to take are there by their own names, as text that no browser runs, and in no other form", async () => {
  const server = serverOn();
  for (const path of ["clients/php/Gerbang.php", "sdk/vectors/page.html"]) {
    const { statusCode, body, headers } = await server.inject(`/docs/files/${path}`);
    expect([statusCode, body]).toEqual([200, files[`files/${path}` as keyof typeof files]]);
    expect(headers).toMatchObject({
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
      "cache-control": "no-cache",
    });
  }
  for (const path of ["clients/php/Gerbang.php.br", "clients/php/", "", "../../package.json", "%2e%2e/current"])
    expect((await server.inject(`/docs/files/${path}`)).statusCode, path).toBe(404);
});

test("a page that a browser has already is not sent again, and HEAD sends none", async () => {
  const server = serverOn();
  const first = await server.inject("/docs/webhooks");
  const again = await server.inject({
    url: "/docs/webhooks",
    headers: { "if-none-match": String(first.headers.etag) },
  });
  expect([again.statusCode, again.body]).toEqual([304, ""]);
  const head = await server.inject({ method: "HEAD", url: "/docs/webhooks" });
  expect([head.statusCode, head.body, head.headers.etag]).toEqual([200, "", first.headers.etag]);
});

test("what is named by its content is kept for good", async () => {
  const { headers } = await serverOn().inject("/docs/assets/docs.0.css");
  expect(headers).toMatchObject({
    "cache-control": "public, max-age=31536000, immutable",
    "content-type": "text/css; charset=utf-8",
  });
});

test("nobody else's page may hold one in a frame, and the policy has no exception", async () => {
  const server = serverOn();
  for (const url of [
    "/docs",
    "/docs/webhooks",
    "/docs/webhooks.md",
    "/docs/nothing",
    "/llms.txt",
    "/docs/changelog.rss",
  ]) {
    const { headers } = await server.inject(url);
    const policy = String(headers["content-security-policy"]);
    expect([url, headers["x-frame-options"]]).toEqual([url, "DENY"]);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|data:|blob:|https?:/);
    expect(headers["x-content-type-options"]).toBe("nosniff");
  }
});

test("an address that is none has a page that says so", async () => {
  const server = serverOn();
  for (const url of [
    "/docs/nothing",
    "/docs/nothing.md",
    "/docs/404",
    "/docs/index",
    "/docs/webhooks.html",
    "/docs/webhooks.html.br",
    "/docs/assets/none.js",
    "/docs/assets/",
    "/docs/..%2fcurrent",
    "/docs/assets/..%2f..%2f..%2fcurrent",
    "/docs/%2e%2e/%2e%2e/package.json",
    "/docs/__proto__",
    "/docs/constructor",
  ]) {
    const { statusCode, body, headers } = await server.inject(url);
    // A path that leaves /docs before it arrives is no address of the service at all.
    const isOurs = headers["content-type"] === "text/html; charset=utf-8";
    expect([url, statusCode, isOurs ? body : "none"]).toEqual([url, 404, isOurs ? "<!doctype html>none" : "none"]);
    expect(headers["cache-control"]).toBe("no-store");
  }
});

test("a slash too much leads to the page, and never to another site", async () => {
  const server = serverOn();
  const { statusCode, headers } = await server.inject("/docs/webhooks/");
  expect([statusCode, headers.location]).toEqual([308, "/docs/webhooks"]);
  for (const url of ["/docs//evil.example/", "/docs///evil.example//", "/docs/%5cevil.example/"]) {
    const answer = await server.inject(url);
    expect([url, answer.statusCode, answer.headers.location]).toEqual([url, 404, undefined]);
  }
});

test("what programs read names the address of this service, in every encoding", async () => {
  const server = serverOn(files, "https://pay.toko.example");
  expect((await server.inject("/llms.txt")).body).toBe("see https://pay.toko.example/docs/webhooks.md");
  const packed = await server.inject({ url: "/docs/changelog.rss", headers: { "accept-encoding": "br" } });
  expect(packed.headers["content-encoding"]).toBe("br");
  expect(packed.headers["content-type"]).toBe("application/rss+xml; charset=utf-8");
  expect(brotliDecompressSync(packed.rawPayload).toString()).toBe(
    "<link>https://pay.toko.example/docs/changelog</link><link>https://pay.toko.example/docs</link>",
  );
});

test("where nothing is built a page says what to do", async () => {
  const server = serverOn({});
  for (const url of ["/docs", "/docs/webhooks", "/llms.txt", "/docs/assets/a.js"]) {
    const { statusCode, body } = await server.inject(url);
    expect([url, statusCode, body.includes("npm run build")]).toEqual([url, 503, true]);
  }
});
