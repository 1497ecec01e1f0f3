// Portal endpoints for a merchant's settings: name, language, time zone and branding to change, and the operator's settings to read.
import { Fault } from "../ground/fault.ts";
import { exponentOf } from "../ground/money.ts";
import { reply } from "../ground/reply.ts";
import { nothing } from "../http/shapes.ts";
import type { Merchant } from "../merchants/directory.ts";
import type { Profile } from "../merchants/profiles.sql.ts";
import { type Profiles, logoPath } from "../merchants/profiles.ts";
import { feeRuleOf, maximumOf, paymentMethods } from "../merchants/settings.ts";
import { minimumPayoutOf } from "../merchants/settlement-schedule.ts";
import { type PortalEndpoint, memberEndpoint } from "./endpoint.ts";
import { changeSettingsSchema, logoUploadSchema, merchantSettingsSchema } from "./settings.schema.ts";

const path = "/portal/v1/settings";
const write = { tag: "Settings", action: "settings:write" } as const;

export function settingsEndpoints({ profiles }: { profiles: Profiles }): PortalEndpoint[] {
  return [
    memberEndpoint({
      method: "GET",
      path,
      operationId: "getMerchantSettings",
      summary: "Read the merchant's settings",
      tag: "Settings",
      action: "settings:read",
      success: { description: "All of them.", schema: merchantSettingsSchema },
      handle: async ({ merchant }) => reply(200, settingsView(merchant, await profiles.of(merchant.merchantId))),
    }),
    memberEndpoint({
      method: "PATCH",
      path,
      operationId: "changeMerchantSettings",
      summary: "Change the name, the language, the time zone or the colour",
      description: "What is left out stays. Null is chosen no more.",
      ...write,
      body: changeSettingsSchema,
      success: { description: "The settings after it.", schema: merchantSettingsSchema },
      async handle({ merchant, body }) {
        const { time_zone: timeZone, ...change } = body;
        await profiles.change(merchant.merchantId, { ...change, timeZone });
        return { ...reply(200, settingsView(merchant, await profiles.of(merchant.merchantId))), audited: body };
      },
    }),
    memberEndpoint({
      method: "PUT",
      path: `${path}/logo`,
      operationId: "setLogo",
      summary: "Set the logo of the payer pages",
      description: "What it is is judged by its bytes.",
      ...write,
      body: logoUploadSchema,
      success: { description: "The settings after it.", schema: merchantSettingsSchema },
      async handle({ merchant, body }) {
        await profiles.setLogo(merchant.merchantId, Buffer.from(body.picture, "base64"));
        return reply(200, settingsView(merchant, await profiles.of(merchant.merchantId)));
      },
    }),
    memberEndpoint({
      method: "DELETE",
      path: `${path}/logo`,
      operationId: "removeLogo",
      summary: "Take the logo away",
      ...write,
      success: { description: "There is none any more.", schema: nothing },
      errors: ["OBJECT_NOT_FOUND"],
      async handle({ merchant }) {
        if (!(await profiles.removeLogo(merchant.merchantId)))
          throw new Fault("OBJECT_NOT_FOUND", { message: "There is no logo." });
        return reply(200, {});
      },
    }),
  ];
}

function settingsView({ merchantId, suspended, rateLimitPerMinute, settings }: Merchant, profile: Profile) {
  const { name, language, timeZone, colour, logo } = profile;
  const { cutoff, utc_offset_minutes, delay_days, closed_weekdays, holidays, pay_after_seconds } = settings.settlement;
  return {
    merchant_id: merchantId,
    name,
    language: language ?? null,
    time_zone: timeZone ?? null,
    colour: colour ?? null,
    logo: logo
      ? { url: logoPath(merchantId, logo), content_type: logo.type, width: logo.width, height: logo.height }
      : null,
    suspended,
    rate_limit_per_minute: rateLimitPerMinute,
    currencies: settings.currencies.map((currency) => ({
      currency,
      exponent: exponentOf(currency),
      max_amount_minor: Number(maximumOf(settings, undefined, currency)),
      minimum_payout_minor: Number(minimumPayoutOf(settings.settlement, currency)),
    })),
    payment_methods: paymentMethods.map((method) => {
      const { enabled } = settings.methods[method];
      const priced = enabled ? settings.currencies : [];
      return { payment_method: method, enabled, fees: priced.map((currency) => feeView(settings, method, currency)) };
    }),
    settlement: { cutoff, utc_offset_minutes, delay_days, closed_weekdays, holidays, pay_after_seconds },
  };
}

function feeView(settings: Merchant["settings"], method: (typeof paymentMethods)[number], currency: string) {
  const { basisPoints, flatMinor, minimumMinor, maximumMinor } = feeRuleOf(settings, method, currency);
  return {
    currency,
    exponent: exponentOf(currency),
    basis_points: basisPoints,
    flat_minor: Number(flatMinor),
    minimum_minor: minimumMinor === undefined ? null : Number(minimumMinor),
    maximum_minor: maximumMinor === undefined ? null : Number(maximumMinor),
  };
}
