// The text that a start prints for a person at a terminal: the addresses, and how to make a first payment. Pure.
import { join } from "node:path";
import type { Config } from "../ground/config.ts";
import { portalRoot } from "../people/relying-party.ts";
import type { DemoFile } from "./demo-merchant.ts";

export interface Addresses {
  baseUrl: string;
  opsUrl: string;
  metrics: string | undefined;
}

export const docsOf = (baseUrl: string): string => `${portalRoot(baseUrl.slice(0, -"/v1".length))}/docs`;

/** The addresses, and the instructions for the demo merchant if there is one. */
export function greeting(
  { serviceName, dataDirectory }: Pick<Config, "serviceName" | "dataDirectory">,
  { baseUrl, opsUrl, metrics }: Addresses,
  demo: DemoFile | undefined,
): string {
  const root = baseUrl.slice(0, -"/v1".length);
  const places = `
  ${serviceName} is ready.

    API        ${baseUrl}          contract   ${root}/openapi.json
    Health     ${baseUrl}/health   metrics    ${metrics ?? "off"}
    Operator   ${opsUrl}
    Console    ${portalRoot(new URL(opsUrl).origin)}/console
    Portal     ${portalRoot(root)}/portal
    Docs       ${docsOf(baseUrl)}
`;
  return demo ? places + forDemo(join(dataDirectory, "demo.json"), baseUrl, demo) : places;
}

function forDemo(file: string, baseUrl: string, demo: DemoFile): string {
  const body = `{"amount_minor":150000,"currency":"IDR","payment_method":"qris","reference_id":"order-'$(date +%s)'"}`;
  return `
  A demo merchant is there to try it with (also in ${file}):

    client_id  ${demo.client_id}
    secret     ${demo.secret}

  Open its pages, signed in as its owner (good once; every start prints another one):

    ${demo.portal_sign_in}

  And the operators' console, as the demo operator:

    ${demo.console_sign_in}

  Create a payment; paste this into another terminal:

    TS=$(date +%s); BODY='${body}'
    curl -s ${baseUrl}/payments -H "Authorization: Bearer ${demo.client_id}" \\
      -H "X-Timestamp: $TS" -H "Idempotency-Key: try-$TS-$RANDOM" -H "Content-Type: application/json" \\
      -H "X-Signature: $(printf '%s' "$TS.$BODY" | openssl dgst -sha256 -hmac '${demo.secret}' | sed 's/.* //')" \\
      -d "$BODY"

  Or watch the whole journey of a payment:  npm run demo
  Stop with Ctrl-C.
`;
}
