// Sign-in from a command line, adapted from RFC 8628: a program opens a request and polls it, a person reads it and grants or denies it.
import { guestEndpoint, personEndpoint } from "../access/endpoint.ts";
import { wireTime } from "../ground/clock.ts";
import { reply } from "../ground/reply.ts";
import { nothing } from "../http/shapes.ts";
import { type Directory, scopes } from "../merchants/directory.ts";
import {
  type DeviceCodes,
  DEVICE_CODE_LASTS_SECONDS,
  INTERVAL_SECONDS,
  type Polled,
  shownUserCode,
} from "../people/device-codes.ts";
import { addressGroup } from "../ground/address-group.ts";
import { scopesBeyond } from "../people/roles.ts";
import { refuseBeyond } from "./credentials.routes.ts";
import {
  beginDeviceSchema,
  begunDeviceSchema,
  confirmDeviceSchema,
  lookDeviceSchema,
  pollDeviceSchema,
  polledDeviceSchema,
  seenDeviceSchema,
} from "./device-codes.schema.ts";
import { type PortalEndpoint, memberEndpoint } from "./endpoint.ts";

interface DeviceEndpointParts {
  devices: DeviceCodes;
  directory: Directory;
  /** Base address of the merchants' API; ends in /v1. */
  baseUrl: () => string;
  /** Address of the portal, without a slash at its end. */
  portalUrl: () => string;
}

const path = "/portal/v1/device-codes";
const tag = "Keys";

export function deviceEndpoints(parts: DeviceEndpointParts): PortalEndpoint[] {
  return [...programEndpoints(parts), ...answeringEndpoints(parts)];
}

function programEndpoints({ devices, directory, baseUrl, portalUrl }: DeviceEndpointParts): PortalEndpoint[] {
  return [
    guestEndpoint({
      method: "POST",
      path,
      operationId: "beginDevice",
      summary: "Begin to sign in from a command line",
      description:
        "For programs: no session and no key is needed. Show the `user_code` and open the page; whoever is signed in there confirms or refuses. Few may wait at once from one address.",
      tag,
      forPrograms: true,
      body: beginDeviceSchema,
      success: { status: 201, description: "Show the short code, keep the long one.", schema: begunDeviceSchema },
      async handle({ body, origin }) {
        const begun = await devices.begin({ name: body.name, environment: body.environment ?? "sandbox" }, origin);
        const code = shownUserCode(begun.userCode);
        const page = `${portalUrl()}/device`;
        return reply(201, {
          device_code: begun.deviceCode,
          user_code: code,
          verification_uri: page,
          verification_uri_complete: `${page}?code=${code}`,
          expires_in: DEVICE_CODE_LASTS_SECONDS,
          interval: INTERVAL_SECONDS,
        });
      },
    }),
    guestEndpoint({
      method: "POST",
      path: `${path}/token`,
      operationId: "pollDevice",
      summary: "Ask what became of a sign-in from a command line",
      description:
        "For programs. The key is made when this is first asked after the person confirmed, and told once: when the answer is lost, begin again and revoke the key that nobody has.",
      tag,
      forPrograms: true,
      body: pollDeviceSchema,
      success: { description: "What became of it.", schema: polledDeviceSchema },
      async handle({ body, origin }) {
        return reply(200, await answerTo(await devices.poll(body.device_code, origin)));
      },
    }),
  ];

  async function answerTo(polled: Polled): Promise<object> {
    if ("intervalSeconds" in polled) return { status: polled.status, interval: polled.intervalSeconds };
    if (polled.status !== "granted") return { status: polled.status };
    const merchant = await directory.merchant(polled.merchantId);
    return {
      status: polled.status,
      client_id: polled.clientId,
      secret: polled.secret,
      base_url: baseUrl(),
      environment: polled.environment,
      name: polled.name,
      scopes: polled.scopes,
      merchant_id: polled.merchantId,
      merchant_name: merchant?.name ?? "",
      portal_url: portalUrl(),
    };
  }
}

function answeringEndpoints({ devices }: DeviceEndpointParts): PortalEndpoint[] {
  return [
    personEndpoint({
      method: "POST",
      changesNothing: true,
      path: `${path}/look`,
      operationId: "lookAtDevice",
      summary: "Read what asks to be signed in by a code",
      description: "Who tries several codes that are wrong has to wait.",
      tag,
      body: lookDeviceSchema,
      success: { description: "What asks, and from where.", schema: seenDeviceSchema },
      errors: ["OBJECT_NOT_FOUND"],
      async handle({ person, body, origin }) {
        const found = await devices.find(person.personId, body.user_code, origin);
        return reply(200, {
          user_code: shownUserCode(found.userCode),
          name: found.name,
          environment: found.environment,
          address: found.address,
          same_address: addressGroup(found.address) === addressGroup(origin.address),
          user_agent: found.userAgent,
          asked_at: wireTime(found.createdAt),
          expires_at: wireTime(found.expiresAt),
        });
      },
    }),
    memberEndpoint({
      method: "POST",
      path: `${path}/confirm`,
      operationId: "confirmDevice",
      summary: "Let a program have a key of the environment, by its code",
      description: "The program gets the key when it asks next. It may do no more than you may.",
      tag,
      action: "credentials:write",
      fresh: "production",
      body: confirmDeviceSchema,
      success: { description: "It gets its key.", schema: nothing },
      errors: ["OBJECT_NOT_FOUND"],
      async handle({ session: { personId, sessionId }, role, book, body, origin }) {
        const { environment } = book;
        const beyond = scopesBeyond(role, environment, scopes);
        const asked = [...new Set(body.scopes ?? scopes.filter((scope) => !beyond.includes(scope)))];
        refuseBeyond(role, environment, asked);
        await devices.answer(body.user_code, { personId, sessionId, granted: { ...book, scopes: asked } }, origin);
        return reply(200, {});
      },
    }),
    personEndpoint({
      method: "POST",
      path: `${path}/refuse`,
      operationId: "refuseDevice",
      summary: "Refuse a program that asks to be signed in",
      tag,
      body: lookDeviceSchema,
      success: { description: "It gets nothing.", schema: nothing },
      errors: ["OBJECT_NOT_FOUND"],
      async handle({ session: { personId, sessionId }, body, origin }) {
        await devices.answer(body.user_code, { personId, sessionId }, origin);
        return reply(200, {});
      },
    }),
  ];
}
