// Endpoints of merchants for operators: settings, invitations, credentials and webhook addresses.
import { Fault } from "../ground/fault.ts";
import { wireTime } from "../ground/clock.ts";
import { isId } from "../ground/ids.ts";
import { reply } from "../ground/reply.ts";
import { type Environment, environments } from "../merchants/books.ts";
import { type Directory, type MerchantSummary, merchantOfRow, scopes } from "../merchants/directory.ts";
import type { Merchants } from "../merchants/merchants.ts";
import { type MerchantRow, selectMerchants } from "../merchants/merchants.sql.ts";
import type { Credential } from "../merchants/credentials.sql.ts";
import { settingsChangeSchema } from "../merchants/settings.ts";
import type { People } from "../people/people.ts";
import { keyChangeListSchema, keyChangesQuery } from "../requests/key-changes.schema.ts";
import { keyChanges } from "../requests/key-changes.ts";
import { followSchedule } from "../settlements/settlements.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import { followAddress } from "../webhooks/registration.ts";
import { findBook } from "./books.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { credentialParams, merchantParams } from "./params.ts";
import { cursorOf, limitOf, page } from "../http/lists.ts";
import {
  changeCredentialSchema,
  createCredentialSchema,
  createMerchantSchema,
  createdCredentialSchema,
  createdMerchantSchema,
  credentialListQuery,
  credentialListSchema,
  credentialSchema,
  credentialView,
  inviteToMerchantSchema,
  isClientId,
  merchantInvitationSchema,
  merchantListQuery,
  merchantListSchema,
  merchantSchema,
  merchantView,
  revokedCredentialSchema,
  setWebhookSchema,
  webhookSchema,
} from "./merchants.schema.ts";

interface MerchantEndpointParts {
  merchants: Merchants;
  directory: Directory;
  lanes: Lanes;
  database: Database;
  /** The normalized address. Throws VALIDATION_ERROR for an address to which webhooks must not be sent. */
  checkWebhookUrl(url: string): Promise<string>;
  people: People;
  /** The page on which an invitation is accepted; the token is appended after `#`. */
  invitationPage: () => string;
}

const path = "/ops/v1/merchants";
const tag = "Merchants";
const ofMerchant = { params: merchantParams, tag } as const;
const ofCredential = { path: `${path}/{id}/credentials/{client_id}`, params: credentialParams, tag } as const;

export function merchantEndpoints(parts: MerchantEndpointParts): OperatorEndpoint[] {
  return [
    ...settingsEndpoints(parts),
    invitationEndpoint(parts),
    ...credentialEndpoints(parts),
    webhookEndpoint(parts),
  ];
}

function settingsEndpoints({ merchants, directory, lanes, database }: MerchantEndpointParts): OperatorEndpoint[] {
  return [
    operatorEndpoint({
      method: "POST",
      operationId: "createMerchant",
      path,
      summary: "Create a merchant with default settings and a book in each environment",
      tag,
      role: "admin",
      body: createMerchantSchema,
      success: { status: 201, description: "The merchant and its webhook secrets.", schema: createdMerchantSchema },
      async handle({ body }) {
        const { merchantId, webhookSecrets } = await merchants.create(body.name);
        return reply(201, { ...merchantView(await required(merchants, merchantId)), webhook_secrets: webhookSecrets });
      },
    }),
    operatorEndpoint({
      method: "GET",
      operationId: "listMerchants",
      path,
      summary: "List merchants, newest first",
      tag,
      role: "viewer",
      query: merchantListQuery,
      success: { description: "A page of merchants.", schema: merchantListSchema },
      async handle({ query }) {
        const after = await cursorOf(query, (id) => merchants.read(id));
        const rows = await database.query<MerchantRow>(selectMerchants(query.name, after, limitOf(query) + 1));
        return page(rows.map(merchantOfRow), query, merchantView, ({ merchantId }) => merchantId);
      },
    }),
    operatorEndpoint({
      ...ofMerchant,
      method: "GET",
      operationId: "getMerchant",
      path: `${path}/{id}`,
      summary: "Read a merchant's settings",
      role: "viewer",
      success: { description: "The merchant.", schema: merchantSchema },
      handle: async ({ params }) => reply(200, merchantView(await required(merchants, params.id))),
    }),
    operatorEndpoint({
      ...ofMerchant,
      method: "PATCH",
      operationId: "updateMerchant",
      path: `${path}/{id}`,
      summary: "Change some of a merchant's settings; the rest stays",
      role: "admin",
      body: settingsChangeSchema,
      success: { description: "The merchant after the change.", schema: merchantSchema },
      async handle({ params, body }) {
        const { merchantId } = await required(merchants, params.id);
        await merchants.patch(merchantId, body);
        if (body.settlement !== undefined) {
          // Both books begin: one in quarantine keeps its run, and does not keep the other's.
          const follow = async (environment: Environment): Promise<void> =>
            lanes.move(merchantId, followSchedule(await findBook(directory, { id: merchantId, environment })));
          await Promise.all(environments.map(follow));
        }
        return reply(200, merchantView(await required(merchants, merchantId)));
      },
    }),
  ];
}

function invitationEndpoint({ merchants, people, invitationPage }: MerchantEndpointParts): OperatorEndpoint {
  return operatorEndpoint({
    ...ofMerchant,
    method: "POST",
    operationId: "inviteToMerchant",
    path: `${path}/{id}/invitations`,
    summary: "Let somebody into a merchant: its first owner, who invites everybody else",
    role: "admin",
    body: inviteToMerchantSchema,
    success: { status: 201, description: "The link, which is good once.", schema: merchantInvitationSchema },
    async handle({ params, body }) {
      const { merchantId } = await required(merchants, params.id);
      const { token, invitation } = await people.invitations.invite(merchantId, body, undefined);
      const { invitationId, role, email, expiresAt } = invitation;
      return reply(201, {
        invitation_id: invitationId,
        merchant_id: merchantId,
        role,
        email: email ?? null,
        expires_at: wireTime(expiresAt),
        url: `${invitationPage()}#${token}`,
      });
    },
  });
}

function credentialEndpoints({ merchants, database }: MerchantEndpointParts): OperatorEndpoint[] {
  return [
    operatorEndpoint({
      ...ofMerchant,
      method: "POST",
      operationId: "createCredential",
      path: `${path}/{id}/credentials`,
      summary: "Create a credential; without `scopes` it has all of them",
      role: "admin",
      body: createCredentialSchema,
      success: { status: 201, description: "The credential with its secret.", schema: createdCredentialSchema },
      async handle({ params, body }) {
        const { merchantId } = await required(merchants, params.id);
        const { environment } = body;
        const terms = { scopes: body.scopes ?? scopes, signature: body.signature ?? "any" };
        const made = await merchants.credentials.create({ merchantId, environment }, terms);
        if (!made) throw new Fault("OBJECT_NOT_FOUND");
        return reply(201, { client_id: made.clientId, secret: made.secret, environment, ...terms });
      },
    }),
    operatorEndpoint({
      ...ofMerchant,
      method: "GET",
      operationId: "listCredentials",
      path: `${path}/{id}/credentials`,
      summary: "List a merchant's credentials, newest first, revoked ones too; never their secrets",
      role: "viewer",
      query: credentialListQuery,
      success: { description: "A page of credentials.", schema: credentialListSchema },
      async handle({ params, query }) {
        const { merchantId } = await required(merchants, params.id);
        const { credentials } = merchants;
        const after = await cursorOf(query, (id) => credentials.read({ merchantId }, id));
        const found = await credentials.list({ merchantId }, after, limitOf(query) + 1);
        return page(found, query, credentialView, ({ clientId }) => clientId);
      },
    }),
    operatorEndpoint({
      ...ofCredential,
      method: "GET",
      operationId: "listCredentialChanges",
      path: `${path}/{id}/credentials/{client_id}/changes`,
      summary: "List what requests signed with a credential changed, newest first, also of one that was revoked",
      role: "viewer",
      query: keyChangesQuery,
      success: { description: "A page of changes.", schema: keyChangeListSchema },
      async handle({ params, query }) {
        const { merchantId } = await required(merchants, params.id);
        const { clientId } = await requiredCredential(merchants, merchantId, params.client_id);
        return keyChanges(database, { merchantId, clientId }, query);
      },
    }),
    operatorEndpoint({
      ...ofCredential,
      method: "PATCH",
      operationId: "updateCredential",
      summary: "Change which signatures a live credential takes, in every process within a second",
      role: "admin",
      body: changeCredentialSchema,
      success: { description: "The credential after the change.", schema: credentialSchema },
      async handle({ params, body }) {
        const { merchantId } = await required(merchants, params.id);
        const { clientId, environment } = await requiredCredential(merchants, merchantId, params.client_id);
        const book = { merchantId, environment };
        const changed = await merchants.credentials.change(book, clientId, { signature: body.signature });
        if (!changed) throw new Fault("OBJECT_NOT_FOUND");
        return reply(200, credentialView(changed));
      },
    }),
    operatorEndpoint({
      ...ofCredential,
      method: "DELETE",
      operationId: "revokeCredential",
      summary: "Revoke a credential, in every process within a second",
      role: "admin",
      success: { description: "It is revoked.", schema: revokedCredentialSchema },
      async handle({ params }) {
        const { merchantId } = await required(merchants, params.id);
        const { client_id: clientId = "" } = params;
        const revoked = isClientId(clientId) && (await merchants.credentials.end(merchantId, clientId));
        if (!revoked) throw new Fault("OBJECT_NOT_FOUND");
        return reply(200, { client_id: clientId, revoked: true });
      },
    }),
  ];
}

function webhookEndpoint({ merchants, ...parts }: MerchantEndpointParts): OperatorEndpoint {
  return operatorEndpoint({
    ...ofMerchant,
    method: "PUT",
    operationId: "setWebhook",
    path: `${path}/{id}/webhook`,
    summary:
      "Register the address of a book's events; what is still pending goes there, signed with the secret as it is",
    role: "admin",
    body: setWebhookSchema,
    success: { description: "The address as it is kept, and its signing secret.", schema: webhookSchema },
    async handle({ params, body }) {
      const { merchantId } = await required(merchants, params.id);
      const url = await parts.checkWebhookUrl(body.url);
      const book = { merchantId, environment: body.environment };
      const secret = await merchants.setWebhook(book, url);
      await followAddress(parts.database, book);
      return reply(200, { environment: body.environment, url, webhook_secret: secret });
    },
  });
}

async function required(merchants: Merchants, id: string | undefined): Promise<MerchantSummary> {
  const merchant = id !== undefined && isId("merchant", id) ? await merchants.read(id) : undefined;
  if (!merchant) throw new Fault("OBJECT_NOT_FOUND", { message: "No such merchant." });
  return merchant;
}

/** A credential of the merchant, also one that ended. Throws OBJECT_NOT_FOUND. */
async function requiredCredential({ credentials }: Merchants, merchantId: string, id = ""): Promise<Credential> {
  const found = isClientId(id) ? await credentials.read({ merchantId }, id) : undefined;
  if (!found) throw new Fault("OBJECT_NOT_FOUND");
  return found;
}
