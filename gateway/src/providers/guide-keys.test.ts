// Goal: the key pair that the guide makes for SNAP is one that the connector reads, each half as what it is. Method: run the guide's own lines.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { isSignedByRsa, privateKeyOf, publicKeyOf, signedByRsa } from "./snap/signature.ts";

const folder = fileURLToPath(new URL("../../../docs/guides/", import.meta.url));
const page = (name: string): string => readFileSync(`${folder}provider-${name}.md`, "utf8");
const linesOf = (name: string, begin: string): string[] =>
  page(name)
    .split("\n")
    .filter((line) => line.startsWith(begin));

test.runIf(spawnSync("openssl", ["version"]).status === 0).each(["doku", "bri"])(
  "the key pair that the page of %s makes can be read, and its public half as one line",
  (name) => {
    const directory = mkdtempSync(join(tmpdir(), "gerbang-guide-"));
    const run = (command: string): string =>
      execFileSync("sh", ["-c", command], { cwd: directory, encoding: "utf8", stdio: "pipe" });
    const read = (file: string): string => readFileSync(join(directory, file), "utf8");
    try {
      const commands = linesOf(name, "openssl ");
      expect(commands).toHaveLength(2);
      for (const command of commands) run(command);
      const ours = read(`${name}-ours-public.pem`);
      const signature = signedByRsa(privateKeyOf(read(`${name}-private.pem`)), "a text");
      expect(isSignedByRsa(publicKeyOf(ours), "a text", signature)).toBe(true);

      // A public key that comes as one line, wrapped as the guide says.
      writeFileSync(join(directory, "doku-public.txt"), ours.replaceAll(/-----.*-----|\n/g, ""));
      const [wrap = ""] = linesOf("doku", "(echo ");
      run(wrap);
      expect(read("doku-public.pem")).toBe(ours);
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
);
