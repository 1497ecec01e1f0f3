// Keeps a page from hearing news before a test has done what the news would prevent.
import type { Page } from "playwright-core";

/**
 * Holds what the page asks at an address, and answers it once `meanwhile` is done. A page asks by itself at any time, above all on a slow machine, and would
 * show what has changed: a row would go with the button that a test is about to press.
 */
export async function hold(page: Page, url: string | RegExp, meanwhile: () => Promise<unknown>): Promise<void> {
  const done = Promise.withResolvers<void>();
  await page.route(url, async (route) => {
    await done.promise;
    await route.continue();
  });
  await meanwhile();
  done.resolve();
}
