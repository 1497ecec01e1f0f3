// The languages in which pages show a call, in the order of their tabs.
import type { SignedCall } from "./call.ts";
import { curlOf } from "./curl.ts";
import { goOf } from "./go.ts";
import { javaOf } from "./java.ts";
import { phpOf } from "./php.ts";
import { pythonOf } from "./python.ts";
import { typescriptOf } from "./typescript.ts";

export const languages: Record<string, { label: string; codeOf: (call: SignedCall) => string }> = {
  curl: { label: "curl", codeOf: curlOf },
  typescript: { label: "TypeScript", codeOf: typescriptOf },
  python: { label: "Python", codeOf: pythonOf },
  php: { label: "PHP", codeOf: phpOf },
  go: { label: "Go", codeOf: goOf },
  java: { label: "Java", codeOf: javaOf },
};
