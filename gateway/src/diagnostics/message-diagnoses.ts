// The diagnoses of a request signed by RFC 9421, with texts that tell what to change. The texts contain no secret.
import { type MessageProblem, digestProblems, messageProblems, problemText } from "../auth/message-problems.ts";
import type { DigestProblem } from "../auth/content-digest.ts";
import { type Diagnosis, explanations } from "./diagnoses.ts";

const BASE =
  "Compare the text that you sign with signature_base, line by line: it is what we form from the request that arrived.";

const texts = {
  rfc9421_demanded:
    "This credential takes signatures of RFC 9421 alone, and the request had X-Timestamp or X-Signature. Send Signature-Input and Signature " +
    "and leave those two out, or have the operator set the credential to any.",
  created_window:
    "The signature is right, but the parameter created is more than 300 seconds from our clock. Set your machine's clock (NTP), and sign " +
    "anew for every attempt, retries included.",
  expired: "The signature is right, but its parameter expires is over. Sign anew for every attempt, retries included.",
  component_differs: `The signature fits another value of the component that subject names than the one that arrived. ${BASE}`,
  base_form:
    "The right parts were signed, but put together in another way. Each line is the name in double quotes, a colon, a space and the value; " +
    `lines are joined by one newline, none stands at the end, and the last line is "@signature-params". ${BASE}`,
  base_unknown:
    "The signature fits none of the usual mistakes. Most often the secret is another one, or a proxy changes the address or a header that " +
    `is covered. ${BASE}`,
} as const;

export type MessageDiagnosis = keyof typeof texts | MessageProblem | DigestProblem;

export const messageDiagnoses: readonly MessageDiagnosis[] = [
  ...(Object.keys(texts) as (keyof typeof texts)[]),
  ...messageProblems,
  ...digestProblems,
];

/** Diagnoses that need no knowledge of the secret: anybody who knows a client_id can cause them. */
export const unprovenOfMessages: readonly MessageDiagnosis[] = ["rfc9421_demanded", "base_unknown", ...messageProblems];

/** The explanation of a diagnosis, of these or of the others, about `subject`. */
export function explanationOf(diagnosis: Diagnosis | MessageDiagnosis, subject: string | null = ""): string {
  const words: Partial<Record<string, string>> = { ...explanations, ...texts };
  return words[diagnosis] ?? problemText(diagnosis as MessageProblem | DigestProblem, subject ?? "");
}
