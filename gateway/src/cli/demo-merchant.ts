// The demo merchant of a development installation, and the file with its credentials.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { App } from "../app.ts";
import { writeWhole } from "../ground/files.ts";
import { isId } from "../ground/ids.ts";
import { signInLinkPage } from "../people/relying-party.ts";
import { DEVELOPMENT_LINK_LASTS } from "../people/sign-in-links.ts";

const demoSchema = z.object({
  base_url: z.string(),
  client_id: z.string(),
  secret: z.string(),
  webhook_secret: z.string(),
  merchant_id: z.string().refine((id) => isId("merchant", id)),
  ops_url: z.string(),
  operator_token: z.string(),
  /** Address that signs in as an owner, once. Each start makes another one. */
  portal_sign_in: z.string().optional(),
  /** The same for the demo operator, in the console. */
  console_sign_in: z.string().optional(),
});
export type DemoFile = z.infer<typeof demoSchema>;

const NAME = "Kopi Gerbang";
const KEY_NAME = "demo";
/** The webhook secret before a recovery also signs for this long: a receiver may still use it. */
const OVERLAP_SECONDS = 86_400;

/**
 * Makes the demo merchant on the first start, and writes `<data>/demo.json` (mode 0600) with the addresses of this start. If that file is
 * missing or damaged (a start was killed before it was written), the demo merchant gets new credentials. Undefined when the database has
 * merchants and none is the demo merchant.
 */
export async function prepareDemo(
  app: App,
  dataDirectory: string,
  { baseUrl, opsUrl }: { baseUrl: string; opsUrl: string },
  operatorToken: string,
): Promise<DemoFile | undefined> {
  const file = join(dataDirectory, "demo.json");
  const before = readDemo(file);
  const known = before && (await app.merchants.read(before.merchant_id)) ? before : await issue(app);
  if (!known) return undefined;
  const demo: DemoFile = {
    ...known,
    base_url: baseUrl,
    ops_url: opsUrl,
    operator_token: operatorToken,
    portal_sign_in: await ownerLink(app, known.merchant_id, baseUrl),
    console_sign_in: await operatorLink(app, opsUrl),
  };
  writeWhole(file, `${JSON.stringify(demo, null, 2)}\n`);
  return demo;
}

async function ownerLink({ people }: App, merchantId: string, baseUrl: string): Promise<string> {
  const { personId } = await people.demoOwner(merchantId);
  const { token } = await people.links.make(personId, "sign_in", DEVELOPMENT_LINK_LASTS);
  return signInLinkPage(baseUrl.slice(0, -"/v1".length), token);
}

async function operatorLink({ consolePeople }: App, opsUrl: string): Promise<string> {
  const { personId } = await consolePeople.demoOperator();
  const { token } = await consolePeople.links.make(personId, "sign_in", DEVELOPMENT_LINK_LASTS);
  return signInLinkPage(new URL(opsUrl).origin, token, "console");
}

/** Reads `demo.json`. Undefined when the file is missing or invalid. */
export function readDemo(file: string): DemoFile | undefined {
  try {
    return demoSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined;
  }
}

type Credentials = Pick<DemoFile, "merchant_id" | "client_id" | "secret" | "webhook_secret">;

/** New credentials of the demo merchant, which is made first if there is no merchant at all. */
async function issue({ merchants }: App): Promise<Credentials | undefined> {
  let merchantId = await merchants.oldestNamed(NAME);
  let webhookSecret: string | undefined;
  if (merchantId !== undefined) {
    // Secrets are shown only once, and these were lost with the file.
    webhookSecret = await merchants.rotateWebhook({ merchantId, environment: "sandbox" }, OVERLAP_SECONDS);
  } else if (await merchants.none()) {
    const made = await merchants.create(NAME);
    merchantId = made.merchantId;
    webhookSecret = made.webhookSecrets.sandbox;
  } else {
    return undefined;
  }
  const credential = await merchants.credentials.create({ merchantId, environment: "sandbox" }, { name: KEY_NAME });
  if (!credential || webhookSecret === undefined) throw new Error("the demo merchant vanished while it was made");
  const { clientId, secret } = credential;
  return { merchant_id: merchantId, client_id: clientId, secret, webhook_secret: webhookSecret };
}
