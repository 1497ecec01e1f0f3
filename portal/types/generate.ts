// `npm run portal:types`: makes portal/src/api/contract.ts from the contracts. The first run installs the generator into this folder.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contractFiles, contractHash, generatedFile, pagesContract } from "./contracts.ts";

const here = import.meta.dirname;
if (!existsSync(join(here, "node_modules"))) {
  execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: here, stdio: "inherit" });
}
const place = mkdtempSync(join(tmpdir(), "gerbang-types-"));
try {
  const [input, output] = [join(place, "contract.json"), join(place, "contract.ts")];
  writeFileSync(input, JSON.stringify(pagesContract()));
  const generator = join(here, "node_modules/.bin/openapi-typescript");
  execFileSync(generator, [input, "-o", output, "--alphabetize"], { cwd: here, stdio: "pipe" });
  const head = `// Types of the contracts, made by \`npm run portal:types\`. Not edited by hand.\n// contracts: ${contractHash()}\n`;
  writeFileSync(generatedFile, head + readFileSync(output, "utf8"));
  console.log(`${generatedFile} from ${contractFiles().join(", ")}`);
} finally {
  rmSync(place, { recursive: true });
}
