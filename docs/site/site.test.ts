// Goal: the documentation holds together: every link leads somewhere, every page is there in every form, and nothing of a document runs.
// Method: draw all of it, as a build does, and read what came out.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { packages } from "./downloads.ts";
import { Links, hrefOf, markdownHrefOf } from "./links.ts";
import { draw } from "./markdown.ts";
import { type Page, addressOf, fileOf } from "./page.ts";
import type { Runnable } from "./blocks.ts";
import { errorCodes, events, exampleAnswer, operations } from "./reference/contract.ts";
import { operationPageId } from "./reference/operation-pages.ts";
import { type Site, allPages, drawSite, treeRoot } from "./site.ts";
import { pageOf } from "./sources.ts";

let drawnOnce: Site | undefined;
const site = (): Site => (drawnOnce ??= drawSite());
/** The files of a build that are not drawn but packed. */
const packagePaths = Object.keys(packages).map((name) => `files/${name}`);
const isMade = (path: string): boolean => site().files.has(path) || packagePaths.includes(path);
const text = (path: string): string => String(site().files.get(path) ?? "");

const written = (markdown: string, source = "docs/guides/tried.md"): Page => pageOf(source, `# Tried\n\n${markdown}\n`);
const drawn = (markdown: string, others: readonly Page[] = []) => {
  const page = written(markdown);
  const links = new Links(
    [page, ...others],
    (path) => path === "gateway/src/app.ts" || path === "docs/portal/home.png",
  );
  return draw(page, {
    links,
    picture: (path) => ({ address: `/docs/assets/${path.split("/").at(-1)}`, size: undefined }),
  });
};

describe("the whole of it", () => {
  test("a page in Indonesian has its buttons in Indonesian", () => {
    const html = text("id/five-minutes.html") + text("id/webhooks.html");
    expect(html).toContain('class="copy">Salin</button>');
    expect(html).toContain(">Jalankan GET /v1/events");
    expect(html).not.toMatch(/>(Copy|Run)\b/);
    expect(text("five-minutes.html")).toContain('class="copy">Copy</button>');
  });

  test("what can be run is a call of the API by way of the portal, and answers with no secret", () => {
    const sent = new Map<string, string>();
    for (const content of site().files.values())
      for (const [, json = ""] of String(content).matchAll(/class="run" data-run="([^"]+)"/g)) {
        const { method, path } = JSON.parse(json.replaceAll("&quot;", '"').replaceAll("&amp;", "&")) as Runnable;
        sent.set(`${method} ${path}`, path);
      }
    expect(sent.size).toBeGreaterThan(30);
    for (const path of sent.values()) expect(path).toMatch(/^\/portal\/v1\/[\w/{}-]+$|^\/v1\/health$/);
    const secrets = operations.filter((operation) =>
      /"(secret|webhook_secret)":/.test(JSON.stringify(exampleAnswer(operation) ?? {})),
    );
    expect(secrets.map(({ id }) => id)).toEqual([]);
  });

  test("a value of an example's path is one part of it, and never the way out of it", async () => {
    const { isPart, pathWith } = (await import(new URL("browser/run.ts", import.meta.url).href)) as {
      isPart: (value: string) => boolean;
      pathWith: (path: string, values: Record<string, string>) => string;
    };
    const path = "/portal/v1/events/{id}/resend";
    expect(pathWith(path, { id: " evt_1 " })).toBe("/portal/v1/events/evt_1/resend");
    expect(pathWith(path, { id: "../../x?y#z" })).toBe("/portal/v1/events/..%2F..%2Fx%3Fy%23z/resend");
    expect(pathWith(path, { id: "$&" })).toBe("/portal/v1/events/%24%26/resend");
    for (const value of [".", "..", " .. ", "%2e%2E", ".%2e"]) expect([value, isPart(value)]).toEqual([value, false]);
    for (const value of ["...", "a.b", ".a", "%2e%2e%2e", "/"]) {
      expect([value, isPart(value)]).toEqual([value, true]);
      // A browser's own reading agrees.
      expect(new URL(pathWith(path, { id: value }), "https://a.example").pathname).toMatch(
        /^\/portal\/v1\/events\/[^/]+\/resend$/,
      );
    }
  });

  test("every link leads to a page, a heading, or a file that is there", () => {
    expect(site().problems).toEqual([]);
  });

  test("every address inside the pages is one that the build has", () => {
    const known = new Set([...site().files.keys(), ...packagePaths].map((path) => `/docs/${path}`));
    for (const { page } of site().pages) known.add(addressOf(page));
    const elsewhere = /^(https?:|mailto:|#|\/portal|\/status|\/openapi\.json|\/llms)/;
    const broken = [...site().files].flatMap(([path, content]) => {
      if (!path.endsWith(".html")) return [];
      const html = String(content);
      const addresses = [...html.matchAll(/\s(?:href|src|data-search|data-run|data-index)="(\/[^"#]*)/g)].map(
        ([, one = ""]) => one,
      );
      return addresses.filter((one) => !elsewhere.test(one) && !known.has(one)).map((one) => `${path}: ${one}`);
    });
    expect(broken).toEqual([]);
    expect(site().pages.length).toBeGreaterThan(120);
  });

  test("every id of a page is there once, and what is named by one is there", () => {
    for (const [path, content] of site().files) {
      if (!path.endsWith(".html")) continue;
      const html = String(content);
      const ids = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id = ""]) => id);
      expect([path, ids.filter((id, at) => ids.indexOf(id) !== at)]).toEqual([path, []]);
      const named = [...html.matchAll(/\s(?:aria-controls|aria-labelledby|popovertarget)="([^"]+)"/g)].map(
        ([, id = ""]) => id,
      );
      expect([path, named.filter((id) => !ids.includes(id))]).toEqual([path, []]);
    }
  });

  test("nothing in a page is a script or a style of its own", () => {
    for (const [path, content] of site().files) {
      if (!path.endsWith(".html")) continue;
      expect([
        path,
        /<script(?![^>]*\ssrc="\/docs\/assets\/)|<style|<\w[^>]*\s(?:style|on\w+)=|javascript:/i.exec(
          String(content),
        )?.[0],
      ]).toEqual([path, undefined]);
    }
  });

  test("every picture says how large it is, so that no page moves when it comes", () => {
    const pictures = [...site().files].flatMap(([path, content]) =>
      path.endsWith(".html") ? [...String(content).matchAll(/<img [^>]+>/g)].map(([tag]) => tag) : [],
    );
    expect(pictures.length).toBeGreaterThan(5);
    expect(pictures.filter((tag) => !/ width="[1-9]\d*" height="[1-9]\d*"/.test(tag))).toEqual([]);
  });

  test("the same sources give the same bytes", () => {
    const again = drawSite();
    expect([...again.files.keys()]).toEqual([...site().files.keys()]);
    const differing = [...again.files].filter(([path, content]) => String(content) !== String(site().files.get(path)));
    expect(differing.map(([path]) => path)).toEqual([]);
  });

  test("the first page weighs less than 60 KB with its font, style and scripts", () => {
    const html = text("index.html");
    const head = [...html.matchAll(/(?:href|src)="\/docs\/(assets\/[^"]+)"/g)].map(([, path = ""]) => path);
    const files = ["index.html", ...new Set(head)];
    const bytes = files.reduce((sum, path) => {
      const content = site().files.get(path) ?? "";
      return sum + (path.endsWith(".woff2") ? content.length : brotliCompressSync(content).length);
    }, 0);
    expect(files.length).toBeGreaterThan(4);
    expect(bytes).toBeLessThan(60_000);
  });

  test("all of it takes little memory of the service that shows it", () => {
    const bytes = [...site().files.values()].reduce((sum, content) => sum + content.length, 0);
    expect(bytes).toBeLessThan(24 * 2 ** 20);
  });
});

describe("what programs read", () => {
  test("llms.txt lists every page, and each has its Markdown", () => {
    const listed = text("llms.txt");
    for (const { page } of site().pages) {
      const file = `${fileOf(page)}.md`;
      expect(listed).toContain(`](https://gerbang.invalid/docs/${file}): `);
      expect(text(file).startsWith(`# `)).toBe(true);
    }
    expect(text("llms-full.txt")).toContain("# Be paid by Gerbang");
  });

  test("llms.txt keeps operations, events and errors together, and decisions in the order of their numbers", () => {
    const addresses = [...text("llms.txt").matchAll(/docs\/([\w./-]+)\.md\): /g)].map(([, path = ""]) => path);
    const kinds = addresses
      .map((path) => /^(api|events|errors)\//.exec(path)?.[1])
      .filter((kind) => kind !== undefined);
    expect(kinds.filter((kind, at) => kind !== kinds[at - 1])).toHaveLength(3);
    const decisions = addresses.filter((path) => path.startsWith("decisions/"));
    expect(decisions).toEqual(decisions.toSorted());
  });

  test("links in Markdown lead to Markdown, pictures are shown, and code stays as it was written", () => {
    expect(text("getting-started.md")).toContain("(/docs/signing.md)");
    expect(text("payers-page.md")).toMatch(
      /!\[The page of a payment by QRIS on a phone\]\(\/docs\/assets\/qris\.\w+\.png\)/,
    );
    expect(text("getting-started.md")).toContain('TS.$3" | openssl dgst');
    const linked = [...site().pages].flatMap(({ page }) =>
      [
        ...text(`${fileOf(page)}.md`)
          .replaceAll(/^```[\s\S]*?^```|`[^`\n]+`/gm, "")
          .matchAll(/\]\(([^)#]+)/g),
      ].map(([, to = ""]) => to),
    );
    expect(linked.length).toBeGreaterThan(300);
    const elsewhere = /^(https?:|mailto:|\/(portal|status|openapi\.json|llms(-full)?\.txt)\b)/;
    const missing = linked.filter((to) => !elsewhere.test(to) && !(to.startsWith("/docs/") && isMade(to.slice(6))));
    expect([...new Set(missing)]).toEqual([]);
  });

  test("the feed has the changes of the API, each once, with whole addresses", () => {
    const feed = text("changelog.rss");
    const ids = [...feed.matchAll(/<guid isPermaLink="false">([0-9a-f]{32})<\/guid>/g)].map(([, id]) => id);
    expect(ids.length).toBeGreaterThan(20);
    expect(new Set(ids).size).toBe(ids.length);
    expect(feed).toMatch(/<title>API: Payment links/);
    expect(
      [...feed.matchAll(/<link>([^<]*)/g)].every(([, to = ""]) =>
        to.startsWith("https://gerbang.invalid/docs/changelog"),
      ),
    ).toBe(true);
    const anchors = new Set([...text("changelog.html").matchAll(/<h3 id="([^"]+)"/g)].map(([, id]) => id));
    expect(anchors.has(/changelog#([^<]+)<\/link>\n<guid/.exec(feed)?.[1])).toBe(true);
    // The feed's own and one for each item: a version's heading has its day.
    const days = [...feed.matchAll(/<pubDate>\w{3}, \d\d \w{3} 20\d\d 00:00:00 GMT<\/pubDate>/g)];
    expect(days).toHaveLength(ids.length + 1);
  });
});

/** What people have other pages for. */
const forKeysAlone = ["listenToEvents", "listSandboxRequests", "getSandboxRequest"];

describe("the reference", () => {
  test("each operation, event and error code has a page", () => {
    const ids = new Set(site().pages.map(({ page }) => page.id));
    const wanted = [
      ...operations.map(({ id }) => operationPageId(id)),
      ...events.map(({ type }) => `events/${type}`),
      ...errorCodes.map((code) => `errors/${code}`),
    ];
    expect(events).toHaveLength(13);
    expect(operations.length).toBeGreaterThanOrEqual(39);
    expect(wanted.filter((id) => !ids.has(id))).toEqual([]);
  });

  test("each operation shows its request in five languages, its fields, what comes back and what can go wrong", () => {
    for (const { id } of operations) {
      const html = text(`${operationPageId(id)}.html`);
      for (const label of ["curl", "TypeScript", "Python", "PHP", "Go"])
        expect([id, html.includes(`>${label}</button>`)]).toEqual([id, true]);
      if (id !== "getHealth") expect([id, html.includes('id="errors"')]).toEqual([id, true]);
      expect([id, html.includes(">Run</button>")]).toEqual([id, !forKeysAlone.includes(id)]);
    }
    const payment = text("api/create-payment.html");
    for (const part of [
      "<code>customer.phone</code>",
      "60 to 86,400.",
      "<strong>Required.</strong>",
      "payments:write",
      "/docs/errors/REFERENCE_ID_DUPLICATE",
    ])
      expect(payment).toContain(part);
  });

  test("a field of an object of several kinds says what it is in each of them, or once what it is in all", () => {
    const rows = text("api/create-payment.md").split("\n");
    const meaningOf = (field: string): string | undefined =>
      rows.find((row) => row.startsWith(`| \`instructions.${field}\` |`))?.split(" | ")[2];
    expect(meaningOf("type")).toMatch(/^Of `qris`: `qr_string`\. Of `va`: `va_number`\. .*: `redirect`\. \|$/);
    expect(meaningOf("expires_at")).toMatch(/^A timestamp in UTC: `[^`]+`\. \|$/);
    expect(meaningOf("account_name")).toBe("Of `va`, of `bank_transfer`: Such as `TOKO MELATI`. |");
    expect(meaningOf("account_number")).toBe("Of `va`, of `bank_transfer`. |");
  });

  test("how to sign leads to the vectors and the guide to porting, which have pages", () => {
    const guide = text("signing.md");
    for (const address of [
      "/docs/files/sdk/vectors/message-signatures.json",
      "/docs/vectors.md#message-signaturesjson",
      "/docs/clients.md#porting-to-another-language",
    ])
      expect(guide).toContain(`](${address})`);
  });

  test("no secret is written into an example", () => {
    for (const { id } of operations) {
      const html = text(`${operationPageId(id)}.html`);
      expect([id, /sk_(test|live)_|whsec_/.exec(html)?.[0]]).toEqual([id, undefined]);
    }
  });
});

describe("a document", () => {
  test("with a script in it shows it as text", () => {
    const { html } = drawn(
      '<script>alert(1)</script>\n\n<img src=x onerror="alert(1)">\n\nText <b onclick="x()">bold</b>\n\n[go](javascript:alert(1)) ![p](data:text/html,x)',
    );
    expect(html).not.toMatch(/<script|<img|<b |href="javascript|src="data/);
    expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
  });

  test("with code in it shows it as text, in colours or not", () => {
    for (const info of ["ts", "sh", "html", "nothing-known", ""]) {
      const { html } = drawn(`\`\`\`${info}\n</code><script>alert(1)</script>\n\`\`\``);
      expect([info, /<script/.test(html)]).toEqual([info, false]);
    }
  });

  test("whose example cannot be one says so, and shows it as it stands", () => {
    const { problems, html } = drawn("```http\nPOST /v1/payments\n\n{ amount: 1 }\n```");
    expect(problems).toEqual([expect.stringContaining("docs/guides/tried.md has an example that is wrong")]);
    expect(html).toContain("POST");
    expect(html).not.toContain("data-run");
  });

  test("with an answer in HTTP shows it as code, and nothing to run", () => {
    const { problems, html } = drawn("```http\nHTTP/1.1 200 OK\nContent-Type: application/json\n\n{}\n```");
    expect(problems).toEqual([]);
    expect(html).not.toContain("data-run");
  });

  test("whose shell calls the API can be run call by call, and what the shell puts in is left open", () => {
    const { html, problems } = drawn(
      "```sh\ncall GET /v1/balances\n```\n\n```sh\nID=1\ncall GET '/v1/payments?payment_link=$ID&status=succeeded'\ncall POST \"/v1/events/$ID/resend\" '{}'\necho call GET /v1/refunds\n```",
    );
    expect(problems).toEqual([]);
    const runs = [...html.matchAll(/data-run="([^"]+)">([^<]+)</g)].map(([, json = "", label]) => [
      label,
      JSON.parse(json.replaceAll("&quot;", '"')),
    ]);
    expect(runs).toEqual([
      ["Run", { method: "GET", path: "/portal/v1/balances", values: {}, query: {} }],
      [
        "Run GET /v1/payments",
        { method: "GET", path: "/portal/v1/payments", values: {}, query: { status: "succeeded" } },
      ],
      [
        "Run POST /v1/events/{id}/resend",
        { method: "POST", path: "/portal/v1/events/{id}/resend", values: { id: "$ID" }, query: {} },
      ],
    ]);
  });

  test("may have blocks in several languages after each other: they become tabs", () => {
    const { html } = drawn("```ts\nlet a = 1;\n```\n\n```python\na = 1\n```\n\nText between\n\n```sh\nls\n```");
    expect(html.match(/role="tab"/g)).toHaveLength(2);
    expect(html.match(/class="code"/g)).toHaveLength(1);
  });

  test("that links to nothing is told", () => {
    const { problems } = drawn(
      "[a](nothing.md) [b](/docs/nothing) [c](ftp://x) [d](../../gateway/src/app.ts) [e](//evil.example)",
    );
    expect(problems.map((one) => one.split(":")[0])).toEqual([
      "docs/guides/tried.md links to nothing.md",
      "docs/guides/tried.md links to /docs/nothing",
      "docs/guides/tried.md links to ftp",
      "docs/guides/tried.md links to //evil.example",
    ]);
  });

  test("says where it belongs by its first line, and otherwise by its folder", () => {
    expect(pageOf("docs/guides/a.md", "<!-- docs: Webhooks 20 -->\n# A\n")).toMatchObject({
      id: "a",
      section: "Webhooks",
      order: 20,
      markdown: "# A\n",
    });
    expect(pageOf("docs/concepts/b.md", "# B\n")).toMatchObject({ id: "concepts/b", section: "Concepts", order: 50 });
    expect(() => pageOf("docs/guides/c.md", "<!-- docs: Nowhere 1 -->\n# C\n")).toThrow("names the section Nowhere");
    expect(() => pageOf("docs/guides/d.md", "No title")).toThrow("has no title");
  });

  test("in Indonesian has an address of its own, and each leads to the other", () => {
    const english = pageOf("docs/guides/x.md", "# X\n\nSee [y](y.md).\n");
    const indonesian = pageOf("docs/guides/x.id.md", "# X (Indonesia)\n\nLihat [x](x.md).\n");
    expect([addressOf(english), addressOf(indonesian)]).toEqual(["/docs/x", "/docs/id/x"]);
    const { files } = drawSite([...allPages(), english, indonesian]);
    expect(String(files.get("x.html"))).toContain('<a href="/docs/id/x" lang="id" hreflang="id">');
    expect(String(files.get("id/x.html"))).toMatch(
      /<html lang="id"[\s\S]*<a href="\/docs\/x" lang="en"[\s\S]*Di halaman ini|Halaman ini sebagai Markdown/,
    );
  });

  test("may have a heading twice: each has its own anchor, as on GitHub", () => {
    const { headings, problems } = drawn("## Retries, `429`\n\n[to the second](#retries-429-1)\n\n## Retries, `429`");
    expect(headings.map(({ anchor }) => anchor)).toEqual(["tried", "retries-429", "retries-429-1"]);
    expect(problems).toEqual([]);
  });

  test("comments are for who writes, and stay in code", () => {
    const page = pageOf("docs/guides/e.md", "# E\n\nBefore<!-- hidden -->after\n\n```html\n<!-- shown -->\n```\n");
    expect(page.markdown).not.toContain("hidden");
    expect(page.markdown).toContain("<!-- shown -->");
  });
});

test("addresses of the service are no links to pages", () => {
  const page = written("");
  const links = new Links([page], () => false);
  expect(hrefOf(links.target(page, "/openapi.json"))).toBe("/openapi.json");
  expect(markdownHrefOf(links.target(page, "https://example.com/a.md"))).toBe("https://example.com/a.md");
});

test("the placeholder of the service's address is the one that the service replaces", () => {
  const served = readFileSync(join(treeRoot, "gateway/src/docs/docs.routes.ts"), "utf8");
  expect(served).toContain('"https://gerbang.invalid"');
});
