// The demo merchant of a development installation, and the file that tells its credentials.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { App } from "./app.ts";

export interface DemoFile {
  base_url: string;
  client_id: string;
  secret: string;
  webhook_secret: string;
  merchant_id: string;
  ops_url: string;
  operator_token: string;
}

/**
 * Makes the demo merchant on the first start, and writes `<data>/demo.json` (mode 0600) with the addresses of this one.
 * Undefined when the database has merchants of its own and no demo merchant is known.
 */
export async function prepareDemo(
  app: App,
  dataDirectory: string,
  baseUrl: string,
  operatorToken: string,
): Promise<DemoFile | undefined> {
  const file = join(dataDirectory, "demo.json");
  const before = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as DemoFile) : undefined;
  const addresses = {
    base_url: baseUrl,
    ops_url: `${baseUrl.slice(0, -"/v1".length)}/ops/v1`,
    operator_token: operatorToken,
  };
  let demo: DemoFile | undefined;
  if (before && (await app.merchants.read(before.merchant_id))) {
    demo = { ...before, ...addresses };
  } else if (await app.merchants.none()) {
    const { merchantId, webhookSecrets } = await app.merchants.create("Kopi Gerbang");
    const credential = await app.merchants.createCredential(merchantId, "sandbox");
    if (!credential) throw new Error("the demo merchant vanished while it was made");
    demo = {
      ...addresses,
      client_id: credential.clientId,
      secret: credential.secret,
      webhook_secret: webhookSecrets.sandbox,
      merchant_id: merchantId,
    };
  }
  if (demo) writeFileSync(file, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
  return demo;
}
