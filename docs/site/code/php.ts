// An example in PHP, with the single-file client. Pure.
import { written } from "../../../portal/src/code/call.ts";
import type { Argument, ClientCall } from "./client-call.ts";
import { CLIENT_ID, ROOT } from "./request.ts";

const text = (value: string): string => `'${value.replaceAll(/[\\']/g, String.raw`\$&`)}'`;

function argument(one: Argument): string {
  if (one.kind === "number") return String(one.value);
  if (one.kind === "text") return text(one.value);
  return written(one.value, {
    text,
    name: (field) => `${text(field)} => `,
    open: "[",
    close: "]",
    trailing: true,
    indent: "    ",
  });
}

export function phpOf(clientCall: ClientCall): string {
  const { name, arguments: given, answer, isList } = clientCall;
  const call = `$gerbang->${name.join("->")}(${given.map(argument).join(", ")})`;
  return [
    "<?php",
    "require 'Gerbang.php';",
    "",
    "$gerbang = new Gerbang\\Client([",
    `    'client_id' => '${CLIENT_ID}',`,
    "    'secret' => getenv('GERBANG_SECRET'),",
    `    'base_url' => '${ROOT}/v1',`,
    "]);",
    "",
    ...(isList
      ? [`foreach (${call} as $${answer}) {`, `    print_r($${answer});`, "}"]
      : [`$${answer} = ${call};`, `print_r($${answer});`]),
  ].join("\n");
}
