// A call in a shell, with curl and openssl. GERBANG_CLIENT_ID and GERBANG_SECRET are variables of the shell.
import { type SignedCall, jsonOf, quoted } from "./call.ts";

export function curlOf({ method, url, body, key }: SignedCall): string {
  const json = body && jsonOf(body).replaceAll("'", String.raw`'\''`);
  const headers = [
    '-H "Authorization: Bearer $GERBANG_CLIENT_ID"',
    '-H "X-Timestamp: $TS" -H "X-Signature: $SIGNATURE"',
    ...(key === undefined ? [] : [`-H ${quoted(`Idempotency-Key: ${key}`)}`]),
    ...(body === undefined ? [] : ['-H "Content-Type: application/json" --data-binary "$BODY"']),
  ];
  return [
    ...(json === undefined ? [] : [`BODY='${json}'`]),
    "TS=$(date +%s)",
    `SIGNATURE=$(printf '%s' "$TS.${json === undefined ? "" : "$BODY"}" | openssl dgst -sha256 -hmac "$GERBANG_SECRET" | sed 's/.* //')`,
    [`curl -s ${method === "GET" ? "" : `-X ${method} `}${quoted(url)}`, ...headers].join(" \\\n  "),
  ].join("\n");
}
