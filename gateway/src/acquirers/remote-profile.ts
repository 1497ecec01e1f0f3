// Entries of acquirers.json for acquirers that speak Gerbang's own protocol: their schema and rules.
import { isIP } from "node:net";
import { z } from "zod";
import { MINOR_MAX, isCurrency } from "../ground/money.ts";
import { paymentMethods } from "../merchants/settings.ts";

/** Share of payments among acquirers of equal priority, when the routing rule names no weight. */
export const weightSchema = z.int().min(1).max(1000).optional();
export const minorSchema = z.int().max(Number(MINOR_MAX));
/** `gateway_code` on the wire and in routing rules. */
export const codeSchema = z.string().regex(/^[a-z_]{1,30}$/, "must be 1 to 30 of a-z and _");
/** The acquirer's fee to the platform. */
export const capabilityCost = z.strictObject({
  basis_points: z.int().min(0).max(10_000),
  flat_minor: minorSchema.min(0),
});

const capabilitySchema = z
  .strictObject({
    method: z.enum(paymentMethods),
    currencies: z.array(z.string().refine(isCurrency, "is not a currency of ISO 4217")).min(1).max(200),
    minimum_minor: minorSchema.min(1),
    maximum_minor: minorSchema.min(1),
    cost: capabilityCost,
  })
  .refine(({ minimum_minor, maximum_minor }) => minimum_minor <= maximum_minor, {
    path: ["maximum_minor"],
    message: "is below minimum_minor",
  });

export const remoteProfileSchema = z
  .strictObject({
    code: codeSchema,
    name: z.string().trim().min(1).max(100),
    environment: z.enum(["sandbox", "production"]),
    /** Base address of `/payments` and `/refunds`; it may have a path. */
    url: z.string().max(2048).superRefine(checkAcquirerUrl),
    secret: z.string().min(32, "must have at least 32 characters").max(1024),
    weight: weightSchema,
    deadline_ms: z.int().min(100).max(30_000).default(8_000),
    /** Whether the acquirer ends payments before their time: `POST /payments/{operation_key}/cancel`. */
    cancels: z.boolean().optional(),
    capabilities: z.array(capabilitySchema).min(1).max(100),
  })
  .superRefine(({ capabilities }, context) => {
    const seen = new Set<string>();
    for (const [at, { method, currencies }] of capabilities.entries()) {
      for (const [index, currency] of currencies.entries()) {
        const pair = `${method} in ${currency}`;
        const path = ["capabilities", at, "currencies", index];
        if (seen.has(pair)) context.addIssue({ code: "custom", path, message: `${pair} is there already` });
        seen.add(pair);
      }
    }
  });
export type RemoteProfile = z.infer<typeof remoteProfileSchema>;

/** The whole file: a list of profiles with distinct codes. */
export const remoteProfilesSchema = z
  .array(remoteProfileSchema)
  .max(100)
  .superRefine((profiles, context) => {
    const seen = new Set<string>();
    for (const [at, { code }] of profiles.entries()) {
      if (seen.has(code)) context.addIssue({ code: "custom", path: [at, "code"], message: `${code} is there already` });
      seen.add(code);
    }
  });

/** True for host names and addresses of the loopback interface. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "");
  return bare === "localhost" || bare === "::1" || (isIP(bare) === 4 && bare.startsWith("127."));
}

/** Adds an issue for each fault of an acquirer's address. Plain http is allowed for this machine only. */
export function checkAcquirerUrl(text: string, context: z.RefinementCtx<string>): void {
  const wrong = (message: string): void => context.addIssue({ code: "custom", message });
  if (!URL.canParse(text)) return wrong("must be a URL");
  const url = new URL(text);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))) {
    return wrong("must begin with https:// (http:// only for this machine: localhost, 127.0.0.1, [::1])");
  }
  if (url.username !== "" || url.password !== "") wrong("must have no user name or password in it");
  if (text.includes("?") || text.includes("#")) wrong("must have no query and no fragment");
}
