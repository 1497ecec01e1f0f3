// Entries of acquirers.json: the fields that all have, and the schema of acquirers that speak Gerbang's own protocol.
import { isIP } from "node:net";
import { z } from "zod";
import { MINOR_MAX, isCurrency } from "../ground/money.ts";
import { paymentMethods } from "../merchants/settings.ts";
import type { Capability } from "./acquirer.ts";

/** Fields of every entry of acquirers.json. */
export const entryFields = {
  /** `gateway_code` on the wire and in routing rules. */
  code: z.string().regex(/^[a-z_]{1,30}$/, "must be 1 to 30 of a-z and _"),
  name: z.string().trim().min(1).max(100),
  environment: z.enum(["sandbox", "production"]),
  /** Share of payments among acquirers of equal priority, when the routing rule names no weight. */
  weight: z.int().min(1).max(1000).optional(),
  deadline_ms: z.int().min(100).max(30_000).default(8_000),
};

const minor = z.int().max(Number(MINOR_MAX));
export const methodFields = {
  method: z.enum(paymentMethods),
  minimum_minor: minor.min(1),
  maximum_minor: minor.min(1),
  /** The acquirer's fee to the platform, with which what-ifs count. Routing does not choose by it. */
  cost: z.strictObject({ basis_points: z.int().min(0).max(10_000), flat_minor: minor.min(0) }),
};
type Method = z.infer<z.ZodObject<typeof methodFields>>;

/** Adds an issue when the limits of a method contradict each other. */
export function checkLimits({ minimum_minor, maximum_minor }: Method, context: z.RefinementCtx): void {
  if (minimum_minor > maximum_minor)
    context.addIssue({ code: "custom", path: ["maximum_minor"], message: "is below the minimum" });
}

/** Adds an issue for each currency in which a method comes again. */
export function checkPairs(methods: readonly (Method & { currencies: string[] })[], context: z.RefinementCtx): void {
  const seen = new Set<string>();
  for (const [at, { method, currencies }] of methods.entries()) {
    for (const [index, currency] of currencies.entries()) {
      const pair = `${method} in ${currency}`;
      const path = [at, "currencies", index];
      if (seen.has(pair)) context.addIssue({ code: "custom", path, message: `${pair} is there already` });
      seen.add(pair);
    }
  }
}

const capabilitySchema = z
  .strictObject({
    ...methodFields,
    currencies: z.array(z.string().refine(isCurrency, "is not a currency of ISO 4217")).min(1).max(200),
    /** False where the acquirer gives no money of this method back. */
    refunds: z.boolean().optional(),
  })
  .superRefine(checkLimits);

export const remoteProfileSchema = z.strictObject({
  ...entryFields,
  /** Base address of `/payments` and `/refunds`; it may have a path. */
  url: z.string().max(2048).superRefine(checkAcquirerUrl),
  secret: z.string().min(32, "must have at least 32 characters").max(1024),
  /** Whether the acquirer ends payments before their time: `POST /payments/{operation_key}/cancel`. */
  cancels: z.boolean().optional(),
  capabilities: z.array(capabilitySchema).min(1).max(100).superRefine(checkPairs),
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

/** The parts of an acquirer that its entry tells, and those that all acquirers outside this process share. */
export function acquirerOf({ code, name, environment, weight }: z.infer<z.ZodObject<typeof entryFields>>) {
  return {
    code,
    name,
    environment,
    weight,
    issue: () => undefined,
    inquiresAfterMs: () => undefined,
    refundsLater: () => true,
    remote: true,
  };
}

/** The limits and the cost of a method, as a capability has them. */
export function capabilityOf({ method, minimum_minor, maximum_minor, cost }: Method): Omit<Capability, "currencies"> {
  return {
    method,
    minimumMinor: BigInt(minimum_minor),
    maximumMinor: BigInt(maximum_minor),
    cost: { basisPoints: cost.basis_points, flatMinor: BigInt(cost.flat_minor) },
  };
}

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
