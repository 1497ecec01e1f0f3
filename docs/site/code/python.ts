// An example in Python, with the single-file client. Pure.
import { quoted, written } from "../../../portal/src/code/call.ts";
import type { Argument, ClientCall } from "./client-call.ts";
import { CLIENT_ID, ROOT } from "./request.ts";

/** Python's spelling of JSON's constants. */
const values: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };

function value(one: unknown, depth: number): string {
  if (typeof one === "string") return quoted(one);
  if (Array.isArray(one)) return `[${one.map((item) => value(item, depth)).join(", ")}]`;
  if (typeof one !== "object" || one === null) return values[String(one)] ?? String(one);
  const name = (field: string): string => `${quoted(field)}: `;
  return written(one, { text: quoted, name, open: "{", close: "}", trailing: true, indent: "    " }, depth, true);
}

/** A positional value, or an object's fields as named arguments. */
function argument(one: Argument): string[] {
  if (one.kind === "text") return [quoted(one.value)];
  if (one.kind === "number") return [String(one.value)];
  return Object.entries(one.value).map(([field, of]) => `${field}=${value(of, 1)}`);
}

const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export function pythonOf(clientCall: ClientCall): string {
  const { name, arguments: given, answer, isList } = clientCall;
  const parts = given.flatMap(argument);
  const short = parts.join(", ");
  const inside =
    parts.length < 3 && !short.includes("\n") ? short : `\n${parts.map((part) => `    ${part},\n`).join("")}`;
  const call = `gerbang.${name.map(snake).join(".")}(${inside})`;
  return [
    "import os",
    "from gerbang import Gerbang",
    "",
    "gerbang = Gerbang(",
    `    client_id="${CLIENT_ID}",`,
    '    secret=os.environ["GERBANG_SECRET"],',
    `    base_url="${ROOT}/v1",`,
    ")",
    "",
    ...(isList ? [`for ${answer} in ${call}:`, `    print(${answer})`] : [`${answer} = ${call}`, `print(${answer})`]),
  ].join("\n");
}
