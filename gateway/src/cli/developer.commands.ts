// The rows of the table of commands for developers of merchants: signatures, the contract.
import { type Command, type Values, defineCommand } from "./command.ts";

const signOptions = {
  "client-id": { value: "ak_…", required: true, summary: "the key" },
  secret: { value: "SECRET", summary: "its secret; GERBANG_SECRET keeps it out of the list of processes" },
  body: { value: "JSON", default: "", summary: "the body, byte for byte as it is sent" },
  method: { value: "METHOD", summary: "GET, POST … (default: POST with a body, else GET)" },
  timestamp: { value: "SECONDS", summary: "seconds since 1970 (default: now)" },
  "idempotency-key": { value: "KEY", summary: "default: one made anew for whatever is no GET" },
  rfc9421: { summary: "sign by RFC 9421" },
  url: { value: "URL", summary: "the whole address that is called; needed with --rfc9421" },
  nonce: { value: "TEXT", summary: "with --rfc9421, 16 to 64 characters (default: made anew)" },
} as const;

export type SignValues = Values<typeof signOptions>;

export const developerCommands: readonly Command[] = [
  defineCommand({
    name: "sign",
    summary: "Print the headers of a signed request",
    details: [
      "It asks nobody and sends nothing. With --rfc9421 it signs by HTTP Message Signatures, else by X-Signature.",
    ],
    options: signOptions,
    examples: [
      ["GERBANG_SECRET=sk_test_… gerbang sign --client-id ak_test_…", "for a GET"],
      ["gerbang sign --client-id ak_test_… --secret sk_test_… --body '{\"amount_minor\":150000}'", "for a POST"],
    ],
    run: async (values) => (await import("./sign-command.ts")).signCommand(values),
  }),
  defineCommand({
    name: "openapi",
    summary: "Print the contract of /v1",
    options: {
      operator: { summary: "of /ops/v1 instead" },
      portal: { summary: "of /portal/v1 instead" },
      postman: { summary: "of /v1 as a Postman collection that signs by itself" },
    },
    examples: [["gerbang openapi > merchant.json", "OpenAPI 3.1"]],
    run: async (values) => (await import("./commands.ts")).openapiCommand(values),
  }),
];
