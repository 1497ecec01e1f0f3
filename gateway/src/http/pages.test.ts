// Goal: the pages are served as they were built, under a policy that lets nothing of others in, and the API's addresses stay the API's.
// Method: builds written by hand into a folder, a server on them, and requests as browsers send them.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bareServer } from "../../test/bare-server.ts";
import { type TestService, startService } from "../../test/kit.ts";
import { openPages } from "./pages.ts";

function build(folder: string, name: string, files: Record<string, string>): void {
  mkdirSync(join(folder, name, "portal", "assets"), { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    writeFileSync(join(folder, name, "portal", path), text);
    writeFileSync(join(folder, name, "portal", `${path}.br`), brotliCompressSync(text));
    writeFileSync(join(folder, name, "portal", `${path}.gz`), gzipSync(text));
  }
  writeFileSync(join(folder, "current"), name);
}

function serverOn(folder: string) {
  const server = bareServer();
  openPages(server, "portal", "Bayar Kita", folder);
  return server;
}

const emptyFolder = (): string => mkdtempSync(join(tmpdir(), "pages-"));

test("every address of a page shows the index, which is asked for anew each time", async () => {
  const folder = emptyFolder();
  build(folder, "aa", { "index.html": "<!doctype html>one", "assets/a-1.js": "1" });
  const server = serverOn(folder);
  for (const url of ["/portal", "/portal/", "/portal/sign-in", "/portal/mer_x/sandbox/payments?status=paid"]) {
    const { statusCode, headers, body } = await server.inject(url);
    expect({ url, statusCode, body }).toEqual({ url, statusCode: 200, body: "<!doctype html>one" });
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-cache",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "referrer-policy": "same-origin",
    });
  }
});

test("the address alone leads to the pages", async () => {
  const { statusCode, headers } = await serverOn(emptyFolder()).inject("/");
  expect([statusCode, headers.location]).toEqual([302, "/portal"]);
});

test("the index bears the name of the service, in every encoding", async () => {
  const folder = emptyFolder();
  const index = (name: string): string =>
    `<meta name="application-name" content="${name}" /><title>${name}</title><script src="/portal/assets/Gerbang1.js">`;
  build(folder, "aa", { "index.html": index("Gerbang"), "assets/Gerbang1.js": "1" });
  const server = serverOn(folder);
  const expected = index("Bayar Kita").replace("Bayar Kita1", "Gerbang1");
  expect((await server.inject("/portal")).body).toBe(expected);
  const { rawPayload } = await server.inject({ url: "/portal", headers: { "accept-encoding": "br" } });
  expect(brotliDecompressSync(rawPayload).toString()).toBe(expected);
});

test("the policy names every source, and has no exception", async () => {
  const folder = emptyFolder();
  build(folder, "aa", { "index.html": "x" });
  const { headers } = await serverOn(folder).inject("/portal");
  const policy = String(headers["content-security-policy"]);
  expect(policy).toContain("default-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|\*|data:|blob:|https?:/);
});

test("files are sent in the best encoding that is accepted, and kept for ever by their hashed names", async () => {
  const folder = emptyFolder();
  build(folder, "aa", { "index.html": "x", "assets/a-1.js": "let a = 1;" });
  const server = serverOn(folder);
  const ask = (accept: string) =>
    server.inject({ url: "/portal/assets/a-1.js", headers: { "accept-encoding": accept } });
  const encodings = {
    "gzip, deflate, br": "br",
    gzip: "gzip",
    "br;q=0, gzip": "gzip",
    identity: undefined,
    "": undefined,
  };
  for (const [accept, encoding] of Object.entries(encodings)) {
    const { headers } = await ask(accept);
    expect(headers["content-encoding"], accept).toBe(encoding);
    expect(headers).toMatchObject({
      "cache-control": "public, max-age=31536000, immutable",
      "content-type": "text/javascript; charset=utf-8",
      vary: "accept-encoding",
    });
  }
  const { headers } = await ask("br");
  const again = await server.inject({
    url: "/portal/assets/a-1.js",
    headers: { "if-none-match": String(headers.etag), "accept-encoding": "br" },
  });
  expect(again.statusCode).toBe(304);
  expect(again.body).toBe("");
});

test("a page that is open over an upgrade still gets the files that it asks for", async () => {
  const folder = emptyFolder();
  build(folder, "aa", { "index.html": "old", "assets/a-1.js": "1" });
  const server = serverOn(folder);
  expect((await server.inject("/portal")).body).toBe("old");
  build(folder, "bb", { "index.html": "new", "assets/b-2.js": "2" });
  expect((await server.inject("/portal")).body).toBe("new");
  expect((await server.inject("/portal/assets/a-1.js")).body).toBe("1");
  expect((await server.inject("/portal/assets/b-2.js")).body).toBe("2");
});

test("where nothing is built a page says what to do, and shows the pages as soon as they are there", async () => {
  const folder = emptyFolder();
  const server = serverOn(folder);
  const { statusCode, body, headers } = await server.inject("/portal/sign-in");
  expect(statusCode).toBe(503);
  expect(body).toContain("npm run build");
  expect(headers["cache-control"]).toBe("no-store");
  build(folder, "aa", { "index.html": "built" });
  expect((await server.inject("/portal/sign-in")).body).toBe("built");
});

test("no file beyond the builds is served", async () => {
  const folder = emptyFolder();
  build(folder, "aa", { "index.html": "x" });
  const server = serverOn(folder);
  for (const url of [
    "/portal/assets/..%2findex.html",
    "/portal/assets/..%2f..%2fcurrent",
    "/portal/assets/%2e%2e%2f%2e%2e%2f%2e%2e%2fpackage.json",
    "/portal/assets/../../package.json",
    "/portal/assets/none.js",
    "/portal/assets/a/b.js",
    "/portal/assets/__proto__",
  ]) {
    const { body, statusCode } = await server.inject(url);
    expect([url, statusCode, body === "x" || JSON.parse(body).error.code]).toEqual([url, 404, "ROUTE_NOT_FOUND"]);
  }
});

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

test("what is no endpoint of /portal/v1 is answered by the API, not by a page", async () => {
  const ask = async (method: string, path: string) => {
    const response = await fetch(service.origin + path, { method });
    return [response.status, ((await response.json()) as { error: { code: string } }).error.code];
  };
  expect(await ask("GET", "/portal/v1/nothing")).toEqual([404, "ROUTE_NOT_FOUND"]);
  expect(await ask("GET", "/portal/v1")).toEqual([404, "ROUTE_NOT_FOUND"]);
  expect(await ask("GET", "/portal/v1/session/proof")).toEqual([405, "METHOD_NOT_ALLOWED"]);
  expect(await ask("POST", "/portal/sign-in")).toEqual([404, "ROUTE_NOT_FOUND"]);
});
