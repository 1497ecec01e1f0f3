// Writes a call in TypeScript, with only Node.js.
import { type SignedCall, quoted, written } from "./call.ts";

/** In an object literal `__proto__: …` would set the prototype, so the name is computed. */
const name = (field: string): string => {
  if (field === "__proto__") return '["__proto__"]: ';
  return /^[A-Za-z_]\w*$/.test(field) ? `${field}: ` : `${quoted(field)}: `;
};

export function typescriptOf({ method, url, body, key }: SignedCall): string {
  const object = body && written(body, { text: quoted, name, open: "{", close: "}", trailing: true, indent: "  " });
  return [
    'import { createHmac } from "node:crypto";',
    "",
    'const { GERBANG_CLIENT_ID = "", GERBANG_SECRET = "" } = process.env;',
    "",
    ...(object === undefined
      ? ['const body = "";']
      : ["// What is signed is what is sent, to the byte.", `const body = JSON.stringify(${object});`]),
    "const timestamp = Math.floor(Date.now() / 1000).toString();",
    'const signature = createHmac("sha256", GERBANG_SECRET).update(`${timestamp}.${body}`).digest("hex");',
    "",
    `const response = await fetch(${quoted(url)}, {`,
    `  method: ${quoted(method)},`,
    "  headers: {",
    "    Authorization: `Bearer ${GERBANG_CLIENT_ID}`,",
    '    "X-Timestamp": timestamp,',
    '    "X-Signature": signature,',
    ...(key === undefined
      ? []
      : [
          "    // One key for one intent: a retry has the same, with a new timestamp and signature.",
          `    "Idempotency-Key": ${quoted(key)},`,
        ]),
    ...(object === undefined ? [] : ['    "Content-Type": "application/json",']),
    "  },",
    ...(object === undefined ? [] : ["  body,"]),
    "});",
    "console.log(response.status, await response.text());",
  ].join("\n");
}
