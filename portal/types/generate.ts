// `npm run portal:types`: generates the types of the portal, the console and the SDK from the contracts. The first run installs the generator here.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contractHash, faces, pagesContract } from "./contracts.ts";

const here = import.meta.dirname;
if (!existsSync(join(here, "node_modules"))) {
  execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: here, stdio: "inherit" });
}
const place = mkdtempSync(join(tmpdir(), "gerbang-types-"));
try {
  for (const face of faces) {
    const [input, output] = [join(place, "contract.json"), join(place, "contract.ts")];
    writeFileSync(input, JSON.stringify(pagesContract(face)));
    const generator = join(here, "node_modules/.bin/openapi-typescript");
    execFileSync(generator, [input, "-o", output, "--alphabetize"], { cwd: here, stdio: "pipe" });
    const head = `// Types of the contracts, made by \`npm run portal:types\`. Not edited by hand.\n// contracts: ${contractHash(face)}\n`;
    writeFileSync(face.file, head + readFileSync(output, "utf8"));
    console.log(`${face.file} from ${face.contracts.join(", ")}`);
  }
} finally {
  rmSync(place, { recursive: true });
}
