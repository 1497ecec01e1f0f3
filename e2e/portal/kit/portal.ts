// The portal as its tests see it: a service, its pages in a real browser, and people who are signed in at a merchant of their own.
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
import { look, settled } from "./look.ts";

export { settled } from "./look.ts";

export const WIDE = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

/** A page of a browser that shares nothing with any other one. */
export interface Visit {
  page: Page;
  context: BrowserContext;
  /** Shows an address below /portal, as paths.ts makes it, and waits until nothing of it is still to come. */
  open(this: void, path: string): Promise<void>;
  /** The same in another window of this browser. */
  openIn(this: void, page: Page): (path: string) => Promise<void>;
  /** Keeps pictures of the page, light and dark, wide and on a phone, where the environment variable LOOK names a folder for them. */
  look(this: void, name: string): Promise<void>;
}

/** Somebody who is signed in. */
export interface Member extends Visit {
  merchantId: string;
  /** What the functions of paths.ts take. */
  place: { merchant: string; environment: Environment };
  email: string;
  /** The merchant's system: makes payments and whatever else pages show. */
  client: Client;
  /** The person's own requests, without a page. */
  requests: Requests;
}

/** Somebody who is signed in to the console. */
export interface OperatorVisit extends Visit {
  email: string;
  /** The person's own requests, without a page. */
  requests: Requests;
}

interface MemberOptions {
  /** Made anew when left out. */
  merchantId?: string;
  environment?: Environment;
  browser?: BrowserContextOptions;
}

export class Portal {
  service!: TestService;
  browser!: Browser;
  private readonly options: TestServiceOptions;
  private readonly contexts = new Set<BrowserContext>();
  private problems: string[] = [];
  private tolerated: RegExp[] = [];

  constructor(options: TestServiceOptions) {
    this.options = options;
  }

  /** By name rather than by address: browsers make passkeys for names alone. */
  get origin(): string {
    return this.service.origin.replace("127.0.0.1", "localhost");
  }

  /** A browser in which nobody is signed in. */
  async guest(options: BrowserContextOptions = {}): Promise<Visit> {
    const context = await this.browser.newContext({
      baseURL: this.origin,
      viewport: WIDE,
      locale: "en-GB",
      timezoneId: "Asia/Jakarta",
      reducedMotion: "reduce",
      ...options,
    });
    context.setDefaultTimeout(20_000);
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

  /** Somebody with a role at a merchant, signed in through the API. A fresh merchant unless one is named. */
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

  /** Where the console is, by name. */
  get consoleOrigin(): string {
    return this.service.operatorOrigin.replace("127.0.0.1", "localhost");
  }

  /** A browser at the console in which nobody is signed in. */
  async consoleGuest(options: BrowserContextOptions = {}): Promise<Visit> {
    const visit = await this.guest({ baseURL: this.consoleOrigin, ...options });
    return {
      ...visit,
      open: (path) => open(visit.page, path, "/console"),
      openIn: (other) => (path) => open(other, path, "/console"),
    };
  }

  /** An operator with a role, signed in to the console. Addresses are those of the console's paths.ts. */
  async operator(role: OperatorRole = "admin", options: BrowserContextOptions = {}): Promise<OperatorVisit> {
    const [requests, visit] = await Promise.all([
      operates({ app: this.service.app, operatorOrigin: this.consoleOrigin }, role),
      this.consoleGuest(options),
    ]);
    const [name = "", value = ""] = (requests.cookie ?? "").split("=");
    await visit.context.addCookies([{ name, value, url: this.consoleOrigin, httpOnly: true, sameSite: "Lax" }]);
    return { ...visit, email: requests.email, requests };
  }

  /** Lets a message on the console pass in this test; any other one fails it. */
  tolerate(...patterns: RegExp[]): void {
    this.tolerated.push(...patterns);
  }

  /** Stops the service and starts it again at the same address, on the same data. `meanwhile` runs while nothing answers. */
  async restart(meanwhile: () => Promise<void> = async () => undefined): Promise<void> {
    const { database, origin } = this.service;
    await this.service.stop();
    await meanwhile();
    this.service = await startService({ ...this.options, database, port: Number(new URL(origin).port) });
  }

  /** For the hooks below. */
  async start(): Promise<void> {
    const build = fileURLToPath(new URL("../../../portal/build.ts", import.meta.url));
    built ??= promisify(execFile)(process.execPath, [build]);
    [this.service, this.browser] = await Promise.all([startService(this.options), browserOfProcess(), built]);
  }

  async endTest(failed: string | undefined): Promise<void> {
    const folder = process.env.LOOK;
    if (failed !== undefined && folder) {
      const pages = [...this.contexts].flatMap((context) => context.pages());
      await Promise.all(pages.map((page, at) => page.screenshot({ path: `${folder}/failed ${failed} ${at}.png` })));
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

  /** Errors on the console, refusals by the Content-Security-Policy among them, and what was thrown and not caught. */
  private watch(page: Page): void {
    page.on("pageerror", (error) => this.problems.push(String(error)));
    page.on("console", (message) => {
      if (message.type() !== "error") return;
      // The API's refusals are part of stories; a missing file of the pages is none.
      const { url } = message.location();
      if (message.text().startsWith("Failed to load resource") && /\/(portal|ops)\/v1\//.test(url)) return;
      this.problems.push(`${message.text()} (${url})`);
    });
  }
}

/** The pages are built once a process, by whichever process comes first. */
let built: Promise<unknown> | undefined;
let browser: Promise<Browser> | undefined;

/** One for all files of a process: what they do in it is kept apart by contexts. It ends with the process. */
async function browserOfProcess(): Promise<Browser> {
  if (!(await browser)?.isConnected()) browser = launchBrowser();
  return browser as Promise<Browser>;
}

/** The portal of a test file: started before its tests and stopped after them. Called once, at the top of the file. */
export function usePortal({ config, ...rest }: TestServiceOptions = {}): Portal {
  // Every page is fetched anew by every test, from one address.
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
