// Writes a call in Python 3, with only its standard library.
import { type SignedCall, quoted, written } from "./call.ts";

export function pythonOf({ method, url, body, key }: SignedCall): string {
  const name = (field: string): string => `${quoted(field)}: `;
  const object = body && written(body, { text: quoted, name, open: "{", close: "}", trailing: true, indent: "    " });
  return [
    "import hashlib, hmac, json, os, time",
    "from urllib.error import HTTPError",
    "from urllib.request import Request, urlopen",
    "",
    ...(object === undefined
      ? ['body = b""']
      : ["# What is signed is what is sent, to the byte.", `body = json.dumps(${object}).encode()`]),
    "timestamp = str(int(time.time()))",
    'signed = timestamp.encode() + b"." + body',
    'signature = hmac.new(os.environ["GERBANG_SECRET"].encode(), signed, hashlib.sha256).hexdigest()',
    "",
    "request = Request(",
    `    ${quoted(url)},`,
    `    method=${quoted(method)},`,
    ...(object === undefined ? [] : ["    data=body,"]),
    "    headers={",
    '        "Authorization": "Bearer " + os.environ["GERBANG_CLIENT_ID"],',
    '        "X-Timestamp": timestamp,',
    '        "X-Signature": signature,',
    ...(key === undefined
      ? []
      : [
          "        # One key for one intent: a retry has the same, with a new timestamp and signature.",
          `        "Idempotency-Key": ${quoted(key)},`,
        ]),
    ...(object === undefined ? [] : ['        "Content-Type": "application/json",']),
    "    },",
    ")",
    "try:",
    "    response = urlopen(request, timeout=30)",
    "except HTTPError as refused:",
    "    response = refused",
    "print(response.status, response.read().decode())",
  ].join("\n");
}
