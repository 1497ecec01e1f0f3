// Writes a call with curl: a merchant's, signed with openssl, or an operator's with a token. The secrets are shell variables.
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

/** A call of the operators' API. OPERATOR_TOKEN is a shell variable. */
export function curlOfOperator({ method, url, body }: SignedCall): string {
  const json = body && jsonOf(body).replaceAll("'", String.raw`'\''`);
  const lines = [
    `curl -s ${method === "GET" ? "" : `-X ${method} `}${quoted(url)}`,
    '-H "Authorization: Bearer $OPERATOR_TOKEN"',
    ...(method === "POST" ? ['-H "Idempotency-Key: try-$(date +%s)"'] : []),
    ...(json === undefined ? [] : [`-H "Content-Type: application/json" --data-binary '${json}'`]),
  ];
  return lines.join(" \\\n  ");
}
