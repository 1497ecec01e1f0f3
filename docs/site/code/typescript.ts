// An example in TypeScript, with the client library. Pure.
import { quoted, written } from "../../../portal/src/code/call.ts";
import type { Argument, ClientCall } from "./client-call.ts";
import { CLIENT_ID, ROOT } from "./request.ts";

const name = (field: string): string => `${/^[A-Za-z_]\w*$/.test(field) ? field : quoted(field)}: `;

function argument(one: Argument): string {
  if (one.kind === "number") return String(one.value);
  if (one.kind === "text") return quoted(one.value);
  return written(one.value, { text: quoted, name, open: "{", close: "}", trailing: true, indent: "  " });
}

export function typescriptOf(clientCall: ClientCall): string {
  const { name: path, arguments: given, answer, isList } = clientCall;
  const call = `gerbang.${path.join(".")}(${given.map(argument).join(", ")})`;
  return [
    `import Gerbang from ${quoted("@gerbang/sdk")};`,
    "",
    "const gerbang = new Gerbang({",
    `  clientId: "${CLIENT_ID}",`,
    "  secret: process.env.GERBANG_SECRET,",
    `  baseUrl: "${ROOT}/v1",`,
    "});",
    "",
    ...(isList
      ? [`for await (const ${answer} of ${call}) {`, `  console.log(${answer});`, "}"]
      : [`const ${answer} = await ${call};`, `console.log(${answer});`]),
  ].join("\n");
}
