// Portal endpoints for a book's webhook settings: the receiver's address, the secret and its rotation, and the receiver's health.
import type { z } from "zod";
import { countOpen, listedAttemptOfRow, selectBookAttempts } from "../events/deliveries.sql.ts";
import { type Clock, DAY_SECONDS } from "../ground/clock.ts";
import { Fault, assert } from "../ground/fault.ts";
import { reply } from "../ground/reply.ts";
import type { Book } from "../merchants/books.ts";
import type { Merchants } from "../merchants/merchants.ts";
import type { Database } from "../store/database.ts";
import { endpointHealth } from "../webhooks/endpoint-health.ts";
import { followAddress } from "../webhooks/registration.ts";
import { type PortalEndpoint, memberEndpoint } from "./endpoint.ts";
import {
  addressSetSchema,
  rotateSchema,
  rotatedSecretSchema,
  setAddressSchema,
  settingsView,
  webhookSettingsSchema,
} from "./webhook.schema.ts";

interface WebhookEndpointParts {
  merchants: Merchants;
  database: Database;
  clock: Clock;
  /** Gives an address in its stored form. Throws VALIDATION_ERROR for an address that webhooks must not be sent to. */
  checkWebhookUrl(url: string): Promise<string>;
}

const path = "/portal/v1/webhook";
const tag = "Webhooks";
const write = { tag, action: "webhooks:write" } as const;
/** Number of latest delivery attempts that the receiver's health is computed from. */
const LATEST = 200;

export function webhookSettingsEndpoints(parts: WebhookEndpointParts): PortalEndpoint[] {
  const { merchants } = parts;
  return [
    memberEndpoint({
      method: "GET",
      path,
      operationId: "getWebhookSettings",
      summary: "Where the environment's events go, how far a rotation is, and how the endpoint does",
      tag,
      action: "webhooks:read",
      success: { description: "The settings.", schema: webhookSettingsSchema },
      handle: async ({ book }) => reply(200, await readSettings(parts, book)),
    }),
    memberEndpoint({
      method: "PUT",
      path,
      operationId: "setWebhookAddress",
      summary: "Register the address of the environment's events; what is still pending goes there",
      ...write,
      fresh: "production",
      body: setAddressSchema,
      success: { description: "The settings, with the secret of a first address.", schema: addressSetSchema },
      async handle({ book, body }) {
        const url = await parts.checkWebhookUrl(body.url);
        const isFirst = (await merchants.webhook(book))?.url === undefined;
        const secret = await merchants.setWebhook(book, url);
        await followAddress(parts.database, book);
        const settings = await readSettings(parts, book);
        const answer = reply(200, { ...settings, webhook_secret: (isFirst ? secret : undefined) ?? null });
        // Without the rest of the address, which may hold a secret.
        return { ...answer, audited: { origin: new URL(url).origin } };
      },
    }),
    memberEndpoint({
      method: "POST",
      path: `${path}/rotate`,
      operationId: "rotateSecret",
      summary: "Issue a new signing secret; the one before signs as well for a while",
      ...write,
      fresh: "production",
      body: rotateSchema,
      success: { description: "The settings, and the new secret.", schema: rotatedSecretSchema },
      async handle({ book, body }) {
        const secret = await merchants.rotateWebhook(book, body.overlap_seconds ?? DAY_SECONDS);
        assert(secret !== undefined, "the merchant of a member is there");
        return reply(200, { ...(await readSettings(parts, book)), webhook_secret: secret });
      },
    }),
    memberEndpoint({
      method: "DELETE",
      path: `${path}/previous`,
      operationId: "retirePreviousSecret",
      summary: "Retire the secret before the last rotation now: from here on the new one alone signs",
      ...write,
      success: { description: "The settings.", schema: webhookSettingsSchema },
      errors: ["OBJECT_NOT_FOUND"],
      async handle({ book }) {
        if (!(await merchants.retirePreviousSecret(book)))
          throw new Fault("OBJECT_NOT_FOUND", { message: "No secret before the present one signs any more." });
        return reply(200, await readSettings(parts, book));
      },
    }),
  ];
}

async function readSettings(
  { merchants, database, clock }: WebhookEndpointParts,
  book: Book,
): Promise<z.infer<typeof webhookSettingsSchema>> {
  // `hidden` is empty, so events of every type count: the receiver's health reveals nothing of the events' content.
  const latest = {
    book,
    hidden: [],
    failedOnly: false,
    startedFrom: undefined,
    startedBefore: undefined,
    after: undefined,
  };
  const [registration, attempts, [open]] = await Promise.all([
    merchants.webhook(book),
    database.query(selectBookAttempts({ ...latest, limit: LATEST - 1 })),
    database.query<{ pending: number; undelivered: number }>(countOpen(book)),
  ]);
  assert(registration && open, "a book has its webhook settings");
  const health = endpointHealth(attempts.map(listedAttemptOfRow), registration.url);
  return settingsView(registration, health, open, clock.now());
}
