// How long a browser that holds nothing of the portal takes until its first page stands there with its data.
import type { BrowserContext } from "playwright-core";
import { launchBrowser } from "../e2e/portal/kit/chromium.ts";
import { settled } from "../e2e/portal/kit/look.ts";
import { paths } from "../portal/src/paths.ts";

/** How often each page is opened, each time by a browser with an empty cache. */
const TIMES = 10;

export interface FirstPage {
  page: string;
  /** From the address to the heading with nothing of the page still being fetched, in milliseconds, the shortest first. */
  took: number[];
}

/** Opens the sign-in, and as whoever has the cookie the home of a merchant's sandbox. Throws when a page does not come to stand within 30 s. */
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
