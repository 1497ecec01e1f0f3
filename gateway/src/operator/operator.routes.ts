// The operator's API, /ops/v1: merchants, credentials, webhook addresses, acquirers. One bearer token.
import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import { sameText, sha256 } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { MalformedJson, parseObject } from "../ground/json.ts";
import { type Reply, reply } from "../http/envelope.ts";
import { judgeFields } from "../http/fields.ts";
import { setRate } from "../http/edge.ts";
import type { Strangers } from "../http/rate.ts";
import { sendReply } from "../http/server.ts";
import { text } from "../http/shapes.ts";
import { environments } from "../merchants/books.ts";
import { scopes } from "../merchants/directory.ts";
import type { Merchants, MerchantSummary } from "../merchants/merchants.ts";
import { settingsChangeSchema } from "../merchants/settings.ts";
import type { Router } from "../routing/routing.sql.ts";

export interface OperatorParts {
  token: string;
  merchants: Merchants;
  router: Router;
  strangers: Strangers;
  /** The address as it is kept; throws VALIDATION_ERROR for one that webhooks must not be sent to. */
  checkWebhookUrl(url: string): Promise<string>;
}

const environment = z.enum(environments);
const createMerchantSchema = z.strictObject({ name: text(1, 120) });
const createCredentialSchema = z.strictObject({
  environment,
  scopes: z.array(z.enum(scopes)).min(1).max(scopes.length).optional(),
});
const setWebhookSchema = z.strictObject({ environment, url: z.string().max(2048) });
const setAcquirerSchema = z.strictObject({
  enabled: z.boolean().optional(),
  health: z.enum(["healthy", "degraded", "down"]).optional(),
});

export function openOperatorApi(server: FastifyInstance, parts: OperatorParts): void {
  const { merchants, router } = parts;
  const digest = sha256(parts.token).toString("hex");

  const on = <Body>(
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    schema: z.ZodType<Body> | undefined,
    handle: (params: Record<string, string>, body: Body) => Promise<Reply>,
  ): void => {
    server.route({
      method,
      url: `/ops/v1${path}`,
      handler: async (request, response) => {
        authenticate(request, digest);
        setRate(response, parts.strangers.rate(request.ip)); // the operator is no stranger, whatever goes wrong below
        return sendReply(response, await handle(request.params as Record<string, string>, bodyOf(request, schema)));
      },
    });
  };

  on("POST", "/merchants", createMerchantSchema, async (_params, { name }) => {
    const { merchantId, webhookSecrets } = await merchants.create(name);
    return reply(201, { ...view(await required(merchants, merchantId)), webhook_secrets: webhookSecrets });
  });
  on("GET", "/merchants/:id", undefined, async ({ id }) => reply(200, view(await required(merchants, id))));
  on("PATCH", "/merchants/:id", settingsChangeSchema, async ({ id }, change) => {
    await required(merchants, id);
    await merchants.patch(id ?? "", change);
    return reply(200, view(await required(merchants, id)));
  });
  on("POST", "/merchants/:id/credentials", createCredentialSchema, async ({ id }, body) => {
    await required(merchants, id);
    const made = await merchants.createCredential(id ?? "", body.environment, body.scopes);
    if (!made) throw new Fault("OBJECT_NOT_FOUND");
    return reply(201, {
      client_id: made.clientId,
      secret: made.secret,
      environment: body.environment,
      scopes: body.scopes ?? scopes,
    });
  });
  on("DELETE", "/merchants/:id/credentials/:client", undefined, async ({ id, client }) => {
    await required(merchants, id);
    const known = /^ak_(test|live)_[0-9a-z]{20,60}$/.test(client ?? "");
    const revoked = known && (await merchants.revokeCredential(id ?? "", client ?? ""));
    if (!revoked) throw new Fault("OBJECT_NOT_FOUND");
    return reply(200, { client_id: client, revoked: true });
  });
  on("PUT", "/merchants/:id/webhook", setWebhookSchema, async ({ id }, body) => {
    const { merchantId } = await required(merchants, id);
    const url = await parts.checkWebhookUrl(body.url);
    const secret = await merchants.setWebhook({ merchantId, environment: body.environment }, url);
    return reply(200, { environment: body.environment, url, webhook_secret: secret });
  });
  on("GET", "/acquirers", undefined, () => Promise.resolve(reply(200, { data: acquirersOf(router) })));
  on("PATCH", "/acquirers/:code", setAcquirerSchema, async ({ code }, change) => {
    if (!(await router.setState(code ?? "", change))) throw new Fault("OBJECT_NOT_FOUND");
    return reply(
      200,
      acquirersOf(router).find((acquirer) => acquirer.gateway_code === code),
    );
  });
}

function authenticate(request: FastifyRequest, digest: string): void {
  const token = /^bearer (\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
  // Digests have one length, so the comparison tells nothing of the token's.
  if (token === undefined || !sameText(sha256(token).toString("hex"), digest)) {
    throw new Fault("UNAUTHORIZED", { message: "Send `Authorization: Bearer <operator token>`." });
  }
}

function bodyOf<Body>(request: FastifyRequest, schema: z.ZodType<Body> | undefined): Body {
  if (!schema) return undefined as Body;
  let input: unknown;
  try {
    input = parseObject(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0));
  } catch (error) {
    if (error instanceof MalformedJson) throw new Fault("MALFORMED_JSON");
    throw error;
  }
  const found = judgeFields({ schema, order: [] }, input);
  if ("fault" in found) throw found.fault;
  return found.value;
}

async function required(merchants: Merchants, id: string | undefined): Promise<MerchantSummary> {
  const merchant = id !== undefined && isId("merchant", id) ? await merchants.read(id) : undefined;
  if (!merchant) throw new Fault("OBJECT_NOT_FOUND", { message: "No such merchant." });
  return merchant;
}

function view(merchant: MerchantSummary): Record<string, unknown> {
  return {
    merchant_id: merchant.merchantId,
    name: merchant.name,
    suspended: merchant.suspended,
    rate_limit_per_minute: merchant.rateLimitPerMinute,
    ...merchant.settings,
  };
}

function acquirersOf(router: Router): { gateway_code: string; [field: string]: unknown }[] {
  const { acquirers, states, version } = router.table;
  return acquirers.map((acquirer) => {
    const { enabled, health } = states.get(acquirer.code) ?? { enabled: true, health: "healthy" };
    return {
      gateway_code: acquirer.code,
      name: acquirer.name,
      environment: acquirer.environment,
      enabled,
      health,
      methods: [...new Set(acquirer.capabilities.map((capability) => capability.method))],
      rules_version: version,
    };
  });
}
