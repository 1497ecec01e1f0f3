// The shapes of a merchant's settings, those of its owner and those of the operator.
import { z } from "zod";
import { settlementScheduleSchema } from "../merchants/settlement-schedule.ts";
import { exampleIds } from "../http/examples.ts";
import { currencyCode, displayName, exponentField, identity, minorAmount, withExample } from "../http/shapes.ts";
import { paymentMethodSchema } from "../merchants/settings.ts";
import { LOGO_BYTES_MAX } from "../merchants/profiles.ts";

const colourField = z
  .string()
  .regex(/^#[0-9a-f]{6}$/, "must be # and six lower-case hex digits")
  .nullable()
  .meta({ description: "Of the button on payer pages. Null: the service's own.", examples: ["#0b6b53"] });
const languageField = z
  .enum(["id", "en"])
  .nullable()
  .meta({ description: "Where a person has chosen none. Null: that of the browser." });
const timeZoneField = z
  .string()
  .min(1)
  .max(64)
  .nullable()
  .meta({ description: "IANA name. Where a person has chosen none. Null: that of the browser." });

const logoSchema = z
  .strictObject({
    url: z.string().meta({ description: "Path on this service. Another picture has another one." }),
    content_type: z.enum(["image/png", "image/jpeg"]),
    width: z.int().min(1).meta({ description: "Pixels." }),
    height: z.int().min(1).meta({ description: "Pixels." }),
  })
  .meta({ id: "Logo", description: "The picture on payer pages." });

const enabledCurrencySchema = withExample(
  z.strictObject({
    currency: currencyCode,
    exponent: exponentField,
    max_amount_minor: minorAmount("The most that one payment may be.", 10_000_000_000),
    minimum_payout_minor: minorAmount("A smaller payout waits for a later run.", 1_000_000),
  }),
  { id: "EnabledCurrency" },
);

const enabledMethodSchema = withExample(
  z.strictObject({
    payment_method: paymentMethodSchema,
    enabled: z.boolean(),
    fees: z.array(
      withExample(
        z.strictObject({
          currency: currencyCode,
          exponent: exponentField,
          basis_points: z.int().min(0),
          flat_minor: minorAmount("The part that is the same for every payment.", 400_000),
          minimum_minor: minorAmount("The fee is never less.").nullable(),
          maximum_minor: minorAmount("The fee is never more.").nullable(),
        }),
        { id: "MethodFee", description: "The price of a payment in one currency." },
        { basis_points: 70, flat_minor: 0 },
      ),
    ),
  }),
  { id: "MerchantMethod", description: "A method, whether it is on, and what it costs." },
  { enabled: true },
);

const exampleLogo = {
  url: `/logos/${exampleIds.merchant}/4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945`,
  content_type: "image/png" as const,
  width: 320,
  height: 96,
};

export const merchantSettingsSchema = withExample(
  z.strictObject({
    merchant_id: identity("merchant"),
    name: z.string(),
    language: languageField,
    time_zone: timeZoneField,
    colour: colourField,
    logo: logoSchema.nullable(),
    suspended: z.boolean(),
    rate_limit_per_minute: z.int().min(1).meta({ description: "Requests that each credential and person may make." }),
    currencies: z.array(enabledCurrencySchema),
    payment_methods: z.array(enabledMethodSchema),
    settlement: settlementScheduleSchema
      .omit({ minimum_payout_minor: true, minimum_payout_minor_per_currency: true })
      .meta({ id: "PayoutSchedule", description: "When payments are paid out." }),
  }),
  {
    id: "MerchantSettings",
    description: "The upper part is the owner's to change; from `suspended` on the operator has set it.",
  },
  {
    name: "Toko Sari",
    language: "id",
    time_zone: "Asia/Jakarta",
    logo: exampleLogo,
    suspended: false,
    rate_limit_per_minute: 100,
    settlement: {
      cutoff: "00:00",
      utc_offset_minutes: 420,
      delay_days: 1,
      closed_weekdays: [0, 6],
      holidays: ["2027-01-01"],
      pay_after_seconds: 3600,
    },
  },
);

export const changeSettingsSchema = z
  .strictObject({
    name: displayName(120).optional(),
    language: languageField.optional(),
    time_zone: timeZoneField.optional(),
    colour: colourField.optional(),
  })
  .meta({ id: "ChangeMerchantSettings", examples: [{ name: "Toko Sari", time_zone: "Asia/Jakarta" }] });

/** A picture of one pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
/** Length of the base64 text of the largest logo. */
const BASE64_MAX = Math.ceil(LOGO_BYTES_MAX / 3) * 4;

export const logoUploadSchema = z
  .strictObject({
    picture: z
      .string()
      .max(BASE64_MAX, `is too large: a logo has at most ${LOGO_BYTES_MAX} bytes`)
      .regex(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, "must be base64")
      .meta({
        description: `A PNG or JPEG in base64: at most ${LOGO_BYTES_MAX} bytes, and 2048 by 2048 pixels.`,
        contentEncoding: "base64",
      }),
  })
  .meta({ id: "LogoUpload", examples: [{ picture: PIXEL }] });
