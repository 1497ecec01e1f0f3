// Writes a call in PHP 8, with its curl and json extensions.
import { type SignedCall, written } from "./call.ts";

const HIDDEN = /[\p{Cc}\u00AD\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/u;

/** A PHP string: single-quoted, or double-quoted when it contains invisible characters. */
function text(value: string): string {
  const whole = value.toWellFormed();
  if (!HIDDEN.test(whole)) return `'${whole.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
  const escaped = whole
    .replaceAll(/[\\"$]/g, String.raw`\$&`)
    .replaceAll(new RegExp(HIDDEN, "gu"), (sign) => `\\u{${sign.charCodeAt(0).toString(16)}}`);
  return `"${escaped}"`;
}

export function phpOf({ method, url, body, key }: SignedCall): string {
  const object =
    body &&
    written(body, {
      text,
      name: (field) => `${text(field)} => `,
      open: "[",
      // Without the cast PHP would send an object with the names 0, 1, 2 as a list.
      openInner: "(object) [",
      close: "]",
      trailing: true,
      indent: "    ",
    });
  return [
    "<?php",
    ...(object === undefined
      ? ["$body = '';"]
      : ["// What is signed is what is sent, to the byte.", `$body = json_encode(${object}, JSON_THROW_ON_ERROR);`]),
    "$timestamp = (string) time();",
    "$signature = hash_hmac('sha256', $timestamp . '.' . $body, getenv('GERBANG_SECRET'));",
    "",
    `$request = curl_init(${text(url)});`,
    "curl_setopt_array($request, [",
    `    CURLOPT_CUSTOMREQUEST => '${method}',`,
    "    CURLOPT_HTTPHEADER => [",
    "        'Authorization: Bearer ' . getenv('GERBANG_CLIENT_ID'),",
    "        'X-Timestamp: ' . $timestamp,",
    "        'X-Signature: ' . $signature,",
    ...(key === undefined
      ? []
      : [
          "        // One key for one intent: a retry has the same, with a new timestamp and signature.",
          `        ${text(`Idempotency-Key: ${key}`)},`,
        ]),
    ...(object === undefined ? [] : ["        'Content-Type: application/json',"]),
    "    ],",
    ...(object === undefined ? [] : ["    CURLOPT_POSTFIELDS => $body,"]),
    "    CURLOPT_RETURNTRANSFER => true,",
    "    CURLOPT_TIMEOUT => 30,",
    "]);",
    "$answer = curl_exec($request);",
    "echo curl_getinfo($request, CURLINFO_RESPONSE_CODE), ' ', $answer, PHP_EOL;",
  ].join("\n");
}
