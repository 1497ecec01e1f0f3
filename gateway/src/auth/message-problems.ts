// The problems of a message signature that show before any key is used, with the public texts that tell the sender what to change.
import type { DigestProblem } from "./content-digest.ts";

const texts = {
  header_malformed:
    "is no dictionary as RFC 9421 wants it, or has more than 4 signatures, 16 components, 16 parameters or 4096 characters, or names one twice",
  not_by_client: "of no signature in Signature-Input is the client_id that Authorization names",
  signed_twice: "of more than one signature in Signature-Input is this client_id; send one",
  signature_absent: "is in Signature-Input, and Signature has no byte sequence of that label",
  signature_length: "has a signature that is not 32 bytes; send the raw bytes of HMAC-SHA256 in base64, between colons",
  parameter_missing: "is a parameter that Signature-Input must have",
  parameter_wrong:
    'is a parameter of another form; created and expires are integers, keyid is a string, nonce a string of 16 to 64 characters, alg "hmac-sha256"',
  component_missing:
    "must be covered; cover @method, @target-uri, content-digest and, where it is sent, idempotency-key",
  component_unknown: "is no component that we know",
  component_parameter: "is covered with parameters, which we take of no component",
  component_twice: "is covered twice",
  component_absent: "is covered, and this request has none",
  component_value: "is covered, and has bytes beyond ASCII",
} as const;

const digestTexts: Readonly<Record<DigestProblem, string>> = {
  digest_malformed: "is no dictionary of byte sequences, as in sha-256=:…:",
  digest_unknown: "has neither sha-256 nor sha-512",
  digest_differs: "is not that of the body that arrived",
};

export type MessageProblem = keyof typeof texts;

export const messageProblems = Object.keys(texts) as MessageProblem[];
export const digestProblems = Object.keys(digestTexts) as DigestProblem[];

/** A sentence about the problem of `subject`: a component, a parameter, a label or a header. */
export function problemText(problem: MessageProblem | DigestProblem, subject: string): string {
  return `RFC 9421: \`${subject}\` ${{ ...texts, ...digestTexts }[problem]}.`;
}
