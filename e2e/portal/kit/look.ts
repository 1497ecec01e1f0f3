// Screenshots of pages for developers, and accessibility checks by axe.
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type axe from "axe-core";
import type { RunOptions } from "axe-core";
import type { Page } from "playwright-core";

/** The minified text, half as long as the package's export, because every page parses it anew. */
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const SIZES = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
export const THEMES = ["light", "dark"] as const;

type Theme = (typeof THEMES)[number];

/** Shows the page in a theme, in the way a person's own choice does. */
export async function showIn(page: Page, theme: Theme): Promise<void> {
  await page.emulateMedia({ colorScheme: theme });
  await page.evaluate((name) => void (document.documentElement.dataset.theme = name), theme);
  await drawn(page);
}

/** Waits until a change of the theme or of the width is drawn: two frames. */
export async function drawn(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

/** The axe rules to check in a theme. Every rule but contrast ignores colours, so the light theme's run covers the others. */
const rulesIn = (theme: Theme): readonly string[] | undefined => (theme === "light" ? undefined : ["color-contrast"]);

/** Axe's findings in a theme. Run the light theme first. */
export const faultsIn = (page: Page, theme: Theme): Promise<string[]> => faults(page, rulesIn(theme));

/** Writes `<name>.<wide|phone>-<light|dark>.png` into the folder that LOOK names; without it, nothing happens. */
export async function look(page: Page, name: string): Promise<void> {
  const folder = process.env.LOOK;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  const before = page.viewportSize();
  for (const [size, viewport] of Object.entries(SIZES)) {
    await page.setViewportSize(viewport);
    for (const theme of THEMES) {
      await showIn(page, theme);
      await page.screenshot({ path: join(folder, `${name}.${size}-${theme}.png`), fullPage: true });
    }
  }
  await showIn(page, "light");
  if (before) await page.setViewportSize(before);
}

/**
 * Axe's violations of WCAG 2.2 AA and of its best practices, one line for each place. `rules` restricts the check to these rules, when the
 * others have been checked already.
 */
export async function faults(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate<boolean>("globalThis.axe !== undefined")))
    await page.evaluate(`(() => { ${axeSource} })()`);
  // Only the violations are sent back from the page.
  return page.evaluate<string[], RunOptions>(
    async (options) => {
      const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run(document, options);
      return violations.flatMap(({ id, help, nodes }) =>
        nodes.map(({ html, any }) => `${id}: ${help}: ${html.slice(0, 160)} ${any[0]?.message ?? ""}`),
      );
    },
    {
      resultTypes: ["violations"],
      // A fault is shown by its markup; a selector for each element is a sixth of the work.
      selectors: false,
      runOnly: rules
        ? { type: "rule", values: [...rules] }
        : { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] },
    },
  );
}

/** Waits until the page has its heading and fetches nothing more. */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(
    () => document.querySelector("h1") !== null && document.querySelector('[aria-busy="true"]') === null,
  );
}
