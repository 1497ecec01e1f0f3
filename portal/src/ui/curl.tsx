// "The same with curl": the signed call of the API behind a page, ready to paste.
import { useSession } from "../api/session.ts";
import { type SignedCall, addressOf } from "../code/call.ts";
import { curlOf, curlOfOperator } from "../code/curl.ts";
import { apiRoot } from "../face.ts";
import { Code } from "./code.tsx";

export interface Call {
  method?: SignedCall["method"];
  /** With /v1 and its query: `/v1/refunds?status=pending`. */
  path: string;
  body?: object | undefined;
}

/** A merchant's call for a terminal. A write gets an idempotency key that changes every second. */
export function callWithCurl({ method = "GET", path, body }: Call, baseUrl: string): string {
  return curlOf({ method, url: addressOf(baseUrl, path), body, ...(method === "GET" ? {} : { key: "try-$TS" }) });
}

/** The call for readers of this face: merchants sign it, operators send a token. `path` begins with /v1. */
export function useCurl(call: Call): string {
  const baseUrl = useSession()?.service.base_url ?? `${location.origin}/v1`;
  if (apiRoot !== "/ops") return callWithCurl(call, baseUrl);
  const { method = "GET", path, body } = call;
  return curlOfOperator({ method, url: `${location.origin}${apiRoot}${path}`, body });
}

/** The shell variables that the call needs, in words. */
export const shellNeeds =
  apiRoot === "/ops" ? "a token as OPERATOR_TOKEN" : "one of your keys as GERBANG_CLIENT_ID and GERBANG_SECRET";

export function CurlPanel({ call }: { call: Call }) {
  const text = useCurl(call);
  return (
    <details className="mt-10 print:hidden border-t border-line pt-3">
      <summary className="flex min-h-6 w-fit max-w-full flex-wrap items-center gap-x-2 text-muted hover:text-ink">
        The same with curl
        <code className="max-w-full truncate font-mono text-xs">
          {call.method ?? "GET"} {apiRoot === "/ops" && apiRoot}
          {call.path.split("?")[0]}
        </code>
      </summary>
      <div className="mt-2">
        <Code text={text} what="the call" />
      </div>
    </details>
  );
}
