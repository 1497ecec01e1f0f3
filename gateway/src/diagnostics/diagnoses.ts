// The diagnoses of a signed request, with texts that tell what to change. The texts contain no secret and no signature.

const shape = 'the value of X-Timestamp, a dot, and the exact bytes of the body: 1767225600.{"amount_minor":150000}';

export const explanations = {
  genuine: "Signature and timestamp are right. If such a request is refused again, send us its request_id.",
  clock:
    "The signature is right, but X-Timestamp is more than 300 seconds from our clock. Set your machine's clock (NTP), and " +
    "form timestamp and signature anew for every attempt, retries included.",
  milliseconds:
    "X-Timestamp has more digits than Unix seconds have (10): it looks like milliseconds, or finer. Divide to whole seconds " +
    "(rounded down, in decimal digits), and sign and send that same text.",
  fraction_timestamp:
    "X-Timestamp has a fraction. Send whole seconds in decimal digits, such as 1767225600 (in Python str(int(time.time()))), " +
    "and sign that same text.",
  timestamp_format:
    "X-Timestamp is not Unix time in seconds. Send decimal digits and nothing else, such as 1767225600; no date, no sign, no space.",
  header_swapped: "X-Timestamp holds what belongs into X-Signature, and the other way round. Swap the two.",
  upper_case: "The signature is right, but in upper-case hexadecimal. Send it in lower case (0-9, a-f).",
  base64:
    "The digest is right, but encoded in base64. Send it in lower-case hexadecimal: 64 characters of 0-9 and a-f, " +
    'in most libraries hexdigest() or digest("hex").',
  prefix:
    "The signature is right, but something stands around it, such as sha256= or quotes. Send the 64 hexadecimal digits alone.",
  missing_dot: `The dot between timestamp and body is missing in the text you signed. Sign ${shape}.`,
  body_only: `Only the body was signed. Sign ${shape}.`,
  body_first: `The body was signed before the timestamp. Sign ${shape}.`,
  hashed_body: `A hash of the body was signed in place of the body. Sign ${shape}.`,
  empty_for_body:
    'The request has a body, but it was signed as if it had none. Sign the body\'s bytes as well: 1767225600.{"amount_minor":150000}. ' +
    "Where a library adds the signature, see that it runs after the body is set.",
  body_for_empty:
    "The request has no body, but it was signed as if it had one (such as {}, null, or the query). Without a body the signed " +
    "text ends after the dot: 1767225600.",
  trailing_newline:
    "The signature fits this body with, or without, white space around it, such as a newline at the end. Sign exactly the bytes " +
    "that you send: with echo use printf '%s' instead, with curl --data-binary instead of -d for files.",
  reserialised_body:
    "The signature fits the same JSON written another way (spaces, indentation, order of keys, or escapes such as \\u00e9 or \\/). " +
    "Turn the body into text once, sign that text, and send that same text; do not hand the object to the HTTP library, which " +
    "writes it anew (in Python data=text in place of json=object).",
  charset:
    "The body was signed in another character encoding than it was sent in. Sign the bytes of the text in UTF-8, as they are sent.",
  webhook_secret:
    "The request was signed with the secret of your webhooks (whsec_…). Requests are signed with the secret of the API key " +
    "(sk_test_…) that belongs to the client_id in Authorization.",
  old_secret:
    "The request was signed with the secret of a key of yours that is revoked. Use the secret that was shown together with the " +
    "client_id in Authorization.",
  other_credential:
    "The request was signed with the secret of another key of yours. client_id and secret belong together as a pair: use the " +
    "secret that was shown with the client_id in Authorization, and mind sandbox and production.",
  client_id: "The client_id was used as the key. The key is the secret (sk_test_…) that was shown together with it.",
  secret_decoded:
    "The secret was decoded (as base64 or hexadecimal) before it was used as the key. Use its text as it is, sk_test_ included, " +
    "as UTF-8 bytes.",
  secret_altered:
    "The key was not exactly the text of the secret: a newline or quotes around it, or its beginning sk_test_ missing. A secret " +
    "read from a file often ends in a newline: trim it.",
  unknown:
    `The signature fits none of the usual mistakes. It is made with HMAC-SHA256, key: the text of the secret that belongs to the ` +
    `client_id, over ${shape}; in lower-case hexadecimal. Most often the secret is another one, or the body changes ` +
    "after it was signed (a proxy, or a library that writes the JSON anew). Try your code with signing.json of /docs/vectors: if it fits, look at these two.",
} as const;

export type Diagnosis = keyof typeof explanations;

export const diagnoses = Object.keys(explanations) as Diagnosis[];

/** Diagnoses that need no knowledge of the secret: anybody who knows a client_id can cause them. */
export const unproven = [
  "unknown",
  "milliseconds",
  "fraction_timestamp",
  "timestamp_format",
  "header_swapped",
  "client_id",
  "secret_decoded", // decoding a secret that is no base64 may give an empty key, which anybody can use
] as const satisfies Diagnosis[];
