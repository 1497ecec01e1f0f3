// Measures how long a browser without a cache takes until its first page of the portal shows its data.
import type { BrowserContext } from "playwright-core";
import { launchBrowser } from "../e2e/portal/kit/chromium.ts";
import { settled } from "../e2e/portal/kit/look.ts";
import { paths } from "../portal/src/paths.ts";

/** Number of times that each page is opened, each time with an empty cache. */
const TIMES = 10;

export interface FirstPage {
  page: string;
  /** Milliseconds from opening the address until the heading is shown and all requests are done, the shortest first. */
  took: number[];
}

/** Opens the sign-in page, and with the cookie the home page of a merchant's sandbox. Throws when a page is not complete within 30 s. */
export async function firstPages(origin: string, cookie: string, merchantId: string): Promise<FirstPage[]> {
  const [name = "", value = ""] = cookie.split("=");
  const signedIn = (context: BrowserContext): Promise<void> =>
    context.addCookies([{ name, value, url: origin, httpOnly: true, sameSite: "Lax" }]);
  const browser = await launchBrowser();
  const open = async (path: string, prepare?: typeof signedIn): Promise<number> => {
    const context = await browser.newContext();
    try {
      await prepare?.(context);
      const page = await context.newPage();
      const begun = performance.now();
      await page.goto(`${origin}/portal${path}`);
      await settled(page);
      return performance.now() - begun;
    } finally {
      await context.close();
    }
  };
  const often = async (page: string, path: string, prepare?: typeof signedIn): Promise<FirstPage> => {
    const took: number[] = [];
    for (let n = 0; n < TIMES; n++) took.push(await open(path, prepare));
    return { page, took: took.toSorted((a, b) => a - b) };
  };
  try {
    return [
      await often("sign-in", paths.signIn()),
      await often("home", paths.home({ merchant: merchantId, environment: "sandbox" }), signedIn),
    ];
  } finally {
    await browser.close();
  }
}
