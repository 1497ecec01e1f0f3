// The test vectors, by their file's name.
import { readFileSync } from "node:fs";
import { join } from "node:path";

export function vectors<Vector>(name: string): Vector[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, `../vectors/${name}.json`), "utf8")) as Vector[];
}
