// The portal for page tests: a service, its pages in a real browser, and signed-in people, each at a separate merchant.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { type TestService, type TestServiceOptions, startService } from "../../../gateway/test/kit.ts";
import { Browser as Requests, joins, operates } from "../../../gateway/test/portal.ts";
import type { Environment } from "../../../gateway/src/merchants/books.ts";
import type { OperatorRole } from "../../../gateway/src/people/operator-roles.ts";
import type { MemberRole } from "../../../gateway/src/people/roles.ts";
import type { Client } from "../../kit/client.ts";
import { launchBrowser } from "./chromium.ts";
import { THEMES, faultsIn, look, settled, showIn } from "./look.ts";

export { settled } from "./look.ts";

export const WIDE = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

/** A page in a browser context of its own, which shares nothing with others. */
export interface Visit {
  page: Page;
  context: BrowserContext;
  /** Opens a path below /portal, as paths.ts makes it, and waits until the page has loaded. */
  open(this: void, path: string): Promise<void>;
  /** Does the same in another window of this browser context. */
  openIn(this: void, page: Page): (path: string) => Promise<void>;
  /** Saves screenshots in both themes, wide and on a phone, when the environment variable LOOK names a folder. */
  look(this: void, name: string): Promise<void>;
}

/** A signed-in merchant member. */
export interface Member extends Visit {
  merchantId: string;
  /** The argument of the functions in paths.ts. */
  place: { merchant: string; environment: Environment };
  email: string;
  /** The merchant's API client: creates payments and other objects that pages show. */
  client: Client;
  /** Sends requests with the person's session, without a page. */
  requests: Requests;
}

/** An operator who is signed in to the console. */
export interface OperatorVisit extends Visit {
  email: string;
  /** Sends requests with the person's session, without a page. */
  requests: Requests;
}

interface MemberOptions {
  /** A new merchant by default. */
  merchantId?: string;
  environment?: Environment;
  browser?: BrowserContextOptions;
}

/** Expects that axe finds nothing in either theme. `name` stands in the failure. */
export async function isClean({ page }: { page: Page }, name: string): Promise<void> {
  for (const theme of THEMES) {
    await showIn(page, theme);
    expect(await faultsIn(page, theme), `${name}, ${theme}`).toEqual([]);
  }
}

/** Expects the same of a page of the console, and saves pictures of it as `console-<name>`. */
export async function isCleanInConsole(visit: Visit, name: string): Promise<void> {
  await isClean(visit, name);
  await visit.look(`console-${name}`);
}

class Portal {
  service!: TestService;
  browser!: Browser;
  private readonly options: TestServiceOptions;
  private readonly contexts = new Set<BrowserContext>();
  private problems: string[] = [];
  private tolerated: RegExp[] = [];

  constructor(options: TestServiceOptions) {
    this.options = options;
  }

  /** By host name rather than IP address: browsers make passkeys for names only. */
  get origin(): string {
    return this.service.origin.replace("127.0.0.1", "localhost");
  }

  /** Opens a browser context without a session. */
  async guest(options: BrowserContextOptions = {}): Promise<Visit> {
    const context = await this.browser.newContext({
      baseURL: this.origin,
      viewport: WIDE,
      locale: "en-GB",
      timezoneId: "Asia/Jakarta",
      reducedMotion: "reduce",
      ...options,
    });
    context.setDefaultTimeout(40_000);
    this.contexts.add(context);
    context.on("page", (page) => this.watch(page));
    const page = await context.newPage();
    return {
      page,
      context,
      open: (path) => open(page, path),
      openIn: (other) => (path) => open(other, path),
      look: (name) => look(page, name),
    };
  }

  /** Signs a person with a role in through the API, at a new merchant unless one is named. */
  async member(role: MemberRole = "owner", options: MemberOptions = {}): Promise<Member> {
    const { environment = "sandbox" } = options;
    const merchantId = options.merchantId ?? (await this.service.merchant({ name: "Toko Senja" })).merchantId;
    const [requests, client, visit] = await Promise.all([
      joins({ ...this.service, origin: this.origin }, merchantId, role, environment),
      this.service.client(merchantId, environment),
      this.guest(options.browser),
    ]);
    const [name = "", value = ""] = (requests.cookie ?? "").split("=");
    await visit.context.addCookies([{ name, value, url: this.origin, httpOnly: true, sameSite: "Lax" }]);
    return {
      ...visit,
      merchantId,
      place: { merchant: merchantId, environment },
      email: requests.email,
      client,
      requests,
    };
  }

  /** The console's origin, by host name. */
  get consoleOrigin(): string {
    return this.service.operatorOrigin.replace("127.0.0.1", "localhost");
  }

  /** Opens a browser context at the console without a session. */
  async consoleGuest(options: BrowserContextOptions = {}): Promise<Visit> {
    const visit = await this.guest({ baseURL: this.consoleOrigin, ...options });
    return {
      ...visit,
      open: (path) => open(visit.page, path, "/console"),
      openIn: (other) => (path) => open(other, path, "/console"),
    };
  }

  /** Signs an operator with a role in to the console. Paths are those of the console's paths.ts. */
  async operator(role: OperatorRole = "admin", options: BrowserContextOptions = {}): Promise<OperatorVisit> {
    const [requests, visit] = await Promise.all([
      operates({ app: this.service.app, operatorOrigin: this.consoleOrigin }, role),
      this.consoleGuest(options),
    ]);
    const [name = "", value = ""] = (requests.cookie ?? "").split("=");
    await visit.context.addCookies([{ name, value, url: this.consoleOrigin, httpOnly: true, sameSite: "Lax" }]);
    return { ...visit, email: requests.email, requests };
  }

  /** Tolerates a message on the browser's console in this test; any other error message fails the test. */
  tolerate(...patterns: RegExp[]): void {
    this.tolerated.push(...patterns);
  }

  /** Stops the service and starts it again at the same address, on the same data. `meanwhile` runs while the service is down. */
  async restart(meanwhile: () => Promise<void> = async () => undefined): Promise<void> {
    const { database, origin } = this.service;
    await this.service.stop();
    await meanwhile();
    this.service = await startService({ ...this.options, database, port: Number(new URL(origin).port) });
  }

  /** Called by the hooks of `usePortal`. */
  async start(): Promise<void> {
    const build = fileURLToPath(new URL("../../../portal/build.ts", import.meta.url));
    built ??= promisify(execFile)(process.execPath, [build]);
    [this.service, this.browser] = await Promise.all([startService(this.options), browserOfProcess(), built]);
  }

  /** Of a test that failed: prints what its pages show, and saves pictures of them when the environment variable LOOK names a folder. */
  async endTest(failed: string | undefined): Promise<void> {
    const folder = process.env.LOOK;
    const pages = failed === undefined ? [] : [...this.contexts].flatMap((context) => context.pages());
    for (const [at, page] of pages.entries()) {
      // A page that has crashed or does not answer has nothing to show; why the test failed is told either way.
      const shown = await page.locator("body").innerText({ timeout: 5_000 }).catch(String);
      console.error(`${page.url()} showed:\n${shown.slice(0, 3_000)}`);
      if (folder) await page.screenshot({ path: `${folder}/failed ${failed} ${at}.png` });
    }
    await Promise.all([...this.contexts].map((context) => context.close()));
    this.contexts.clear();
    const problems = this.problems.filter((text) => !this.tolerated.some((pattern) => pattern.test(text)));
    this.problems = [];
    this.tolerated = [];
    expect(problems, "what the browser complained about").toEqual([]);
  }

  async stop(): Promise<void> {
    await this.service?.stop();
  }

  /** Collects uncaught exceptions and errors on the browser's console, such as violations of the Content-Security-Policy. */
  private watch(page: Page): void {
    page.on("pageerror", (error) => this.problems.push(String(error)));
    page.on("console", (message) => {
      if (message.type() !== "error") return;
      // Tests provoke rejections by the API on purpose, but a missing file of the pages is an error.
      const { url } = message.location();
      if (message.text().startsWith("Failed to load resource") && /\/(portal|ops)\/v1\//.test(url)) return;
      this.problems.push(`${message.text()} (${url})`);
    });
  }
}

/** Builds the pages once for each process; processes take turns, and only the first one builds. */
let built: Promise<unknown> | undefined;
let browser: Promise<Browser> | undefined;

/** One browser for all files of a process, which use separate contexts. The browser ends with the process. */
async function browserOfProcess(): Promise<Browser> {
  if (!(await browser)?.isConnected()) browser = launchBrowser();
  return browser as Promise<Browser>;
}

/** Starts the portal before the tests of a file and stops it after them. Call it once, at the top of the file. */
export function usePortal({ config, ...rest }: TestServiceOptions = {}): Portal {
  // Every test fetches every page anew, from one address, so the limit of unauthenticated requests is raised.
  const options = { ...rest, config: { unauthenticatedLimitPerMinute: 1_000_000, ...config } };
  const portal = new Portal(options);
  beforeAll(() => portal.start());
  afterEach(({ task }) => portal.endTest(task.result?.state === "fail" ? task.name.slice(0, 80) : undefined));
  afterAll(() => portal.stop());
  return portal;
}

async function open(page: Page, path: string, face = "/portal"): Promise<void> {
  await page.goto(`${face}${path}`);
  await settled(page);
}
