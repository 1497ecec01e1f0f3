// The tests' browser: on Linux x64 the one inside an npm package, unpacked once on each machine; elsewhere an installed Chrome.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, chromium } from "playwright-core";

/** Replaces the package's own flags, which switch off the web security that some tests are about. */
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--font-render-hinting=none"];

export function launchBrowser(): Promise<Browser> {
  if (process.platform !== "linux" || process.arch !== "x64") return chromium.launch({ channel: "chrome" });
  return chromium.launch({ executablePath: unpacked(), args: FLAGS });
}

/** Unpacks the browser into a temporary folder and renames it into place, because several test files may do so at once. */
function unpacked(): string {
  const entry = createRequire(import.meta.url).resolve("@sparticuz/chromium");
  const folder = packageOf(entry);
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
  const cache = join(homedir(), ".cache", "gerbang");
  const place = join(cache, `chromium-${version}`);
  if (!existsSync(place)) {
    mkdirSync(cache, { recursive: true });
    const draft = mkdtempSync(join(cache, "draft-"));
    const program = `const { default: chromium } = await import(${JSON.stringify(pathToFileURL(entry).href)}); await chromium.executablePath();`;
    execFileSync(process.execPath, ["--input-type=module", "-e", program], { env: { ...process.env, TMPDIR: draft } });
    try {
      renameSync(draft, place);
    } catch (error) {
      if (!existsSync(place)) throw error;
      rmSync(draft, { recursive: true }); // another process was faster
    }
  }
  return join(place, "chromium");
}

function packageOf(entry: string): string {
  let folder = dirname(entry);
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}
