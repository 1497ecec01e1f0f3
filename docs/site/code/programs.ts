// Programs that send a request, in five languages: TypeScript, Python and PHP use the client libraries; curl and Go sign by themselves, as do
// programs for operations that a library has no call for. Pure.
import type { SignedCall } from "../../../portal/src/code/call.ts";
import { curlOf } from "../../../portal/src/code/curl.ts";
import { goOf } from "../../../portal/src/code/go.ts";
import { phpOf as signedPhpOf } from "../../../portal/src/code/php.ts";
import { pythonOf as signedPythonOf } from "../../../portal/src/code/python.ts";
import { typescriptOf as signedTypescriptOf } from "../../../portal/src/code/typescript.ts";
import { type ClientCall, type Library, clientCallOf } from "./client-call.ts";
import { phpOf } from "./php.ts";
import { pythonOf } from "./python.ts";
import { CLIENT_ID, type Example, ROOT } from "./request.ts";
import { typescriptOf } from "./typescript.ts";

export interface Written {
  /** The key by which the reader's choice of language is stored. */
  language: string;
  label: string;
  code: string;
}

/** The programs in the order of the tabs. */
export function programsOf(example: Example): Written[] {
  const { operation, target, body, key } = example;
  const call: SignedCall = { method: operation.method as SignedCall["method"], url: ROOT + target, body, key };
  const unsigned = operation.isPublic;
  return [
    { language: "curl", label: "curl", code: unsigned ? `curl -s ${ROOT}${target}` : filled(curlOf(call)) },
    {
      language: "typescript",
      label: "TypeScript",
      code: inLibrary(example, "typescript", typescriptOf) ?? signedTypescriptOf(call),
    },
    { language: "python", label: "Python", code: inLibrary(example, "python", pythonOf) ?? signedPythonOf(call) },
    { language: "php", label: "PHP", code: inLibrary(example, "php", phpOf) ?? signedPhpOf(call) },
    { language: "go", label: "Go", code: filled(goOf(call)) },
  ];
}

/** Undefined when the library has no call for the operation. */
function inLibrary(example: Example, library: Library, write: (call: ClientCall) => string): string | undefined {
  const call = clientCallOf(example, library);
  return call && write(call);
}

/** Writes the client_id into the code, since it is no secret, so that pages can replace it with the reader's own. */
function filled(code: string): string {
  return code
    .replaceAll("$GERBANG_CLIENT_ID", CLIENT_ID)
    .replaceAll('"Bearer "+os.Getenv("GERBANG_CLIENT_ID")', `"Bearer ${CLIENT_ID}"`);
}
