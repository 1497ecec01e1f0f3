// "The same with curl": the signed call of the API behind a page, ready to paste.
import { useSession } from "../api/session.ts";
import { Code } from "./code.tsx";

export interface Call {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With /v1 and its query: `/v1/refunds?status=pending`. */
  path: string;
  body?: object | undefined;
}

/** A call as people paste it into a terminal, where CLIENT_ID and SECRET are set. */
export function curlOf({ method = "GET", path, body }: Call, baseUrl: string): string {
  const root = baseUrl.replace(/\/v1\/?$/, "");
  const keyed = method === "POST" || method === "PUT";
  const quoted = JSON.stringify(body ?? {}).replaceAll("'", String.raw`'\''`);
  return [
    body === undefined ? "TS=$(date +%s)" : `TS=$(date +%s); BODY='${quoted}'`,
    `SIGNATURE=$(printf '%s' "$TS.${body === undefined ? "" : "$BODY"}" | openssl dgst -sha256 -hmac "$SECRET" | sed 's/.* //')`,
    `curl -s ${method === "GET" ? "" : `-X ${method} `}"${root}${path}" \\`,
    '  -H "Authorization: Bearer $CLIENT_ID" \\',
    `  -H "X-Timestamp: $TS" -H "X-Signature: $SIGNATURE"${keyed || body ? " \\" : ""}`,
    ...(keyed ? [`  -H "Idempotency-Key: try-$TS"${body ? " \\" : ""}`] : []),
    ...(body === undefined ? [] : ['  -H "Content-Type: application/json" -d "$BODY"']),
  ].join("\n");
}

export function useCurl(call: Call): string {
  return curlOf(call, useSession()?.service.base_url ?? `${location.origin}/v1`);
}

export function CurlPanel({ call }: { call: Call }) {
  const text = useCurl(call);
  return (
    <details className="mt-10 border-t border-line pt-3">
      <summary className="flex min-h-6 w-fit max-w-full flex-wrap items-center gap-x-2 text-muted hover:text-ink">
        The same with curl
        <code className="max-w-full truncate font-mono text-xs">
          {call.method ?? "GET"} {call.path.split("?")[0]}
        </code>
      </summary>
      <div className="mt-2">
        <Code text={text} what="the call" />
      </div>
    </details>
  );
}
