// The shapes of signing in from a command line, for the program that asks and for the person who answers.
import { z } from "zod";
import { exampleToken } from "../access/session.schema.ts";
import { exampleClientId, exampleSecret, exampleTimes } from "../http/examples.ts";
import { displayName, environmentField, identity, positive, timestamp, withExample } from "../http/shapes.ts";
import { scopes } from "../merchants/directory.ts";
import { scopeField } from "../operator/merchants.schema.ts";

const exampleUserCode = "WDJB-MJHT";
const examplePage = "https://pay.example/portal/device";
const exampleName = "gerbang CLI on sari-laptop";

const nameField = displayName(60).meta({ description: "How the key shall be called.", examples: [exampleName] });
const userCodeField = z
  .string()
  .min(1)
  .max(40)
  .meta({
    description: "As the terminal shows it; case, dashes and spaces do not matter.",
    examples: [exampleUserCode],
  });

export const beginDeviceSchema = z
  .strictObject({
    name: nameField,
    environment: environmentField
      .optional()
      .meta({ description: "What is asked for; the person decides. The sandbox when left out." }),
  })
  .meta({ id: "BeginDevice", examples: [{ name: exampleName }] });

export const begunDeviceSchema = withExample(
  z.strictObject({
    device_code: z
      .string()
      .meta({ description: "For asking what became of it. Show it to nobody.", examples: [exampleToken] }),
    user_code: z.string().meta({
      description: "Show it: the person compares it with what the page says.",
      pattern: "^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$",
      examples: [exampleUserCode],
    }),
    verification_uri: z.string().meta({ description: "Where the code is typed.", examples: [examplePage] }),
    verification_uri_complete: z
      .string()
      .meta({ description: "The same with the code in it.", examples: [`${examplePage}?code=${exampleUserCode}`] }),
    expires_in: positive(600, "Seconds until it is over."),
    interval: positive(5, "Seconds to wait between two questions."),
  }),
  { id: "BegunDevice", description: "As RFC 8628, section 3.2, has it." },
);

export const pollDeviceSchema = z
  .strictObject({ device_code: z.string().min(1).max(100) })
  .meta({ id: "PollDevice", examples: [{ device_code: exampleToken }] });

const waitingSchema = withExample(
  z.strictObject({
    status: z.enum(["authorization_pending", "slow_down"]).meta({
      id: "DeviceWaiting",
      description: "Ask again after the interval, which is longer by five seconds after `slow_down`.",
    }),
    interval: positive(5, "Seconds."),
  }),
  { id: "DevicePending", description: "Nobody has answered yet." },
);

const endedSchema = withExample(
  z.strictObject({
    status: z.enum(["access_denied", "expired_token"]).meta({
      id: "DeviceEnd",
      description: "The person refused, or may not make the key any more; or the code is over, was used, or never was.",
    }),
  }),
  { id: "DeviceEnded", description: "There is no key. Do not ask again." },
);

const grantedSchema = withExample(
  z.strictObject({
    status: z.literal("granted"),
    client_id: z.string().meta({ examples: [exampleClientId] }),
    secret: z.string().meta({ description: "Signs requests. Told this once.", examples: [exampleSecret] }),
    base_url: z.string().meta({ description: "Of the API; ends in /v1.", examples: ["https://pay.example/v1"] }),
    environment: environmentField,
    name: z.string(),
    scopes: z.array(z.string()).meta({ description: "What it may do." }),
    merchant_id: identity("merchant"),
    merchant_name: z.string(),
    portal_url: z.string().meta({ description: "The merchant's pages.", examples: ["https://pay.example/portal"] }),
  }),
  { id: "DeviceGranted", description: "The key that the person agreed to." },
  { status: "granted", name: exampleName, scopes: [...scopes], merchant_name: "Toko Sari" },
);

export const polledDeviceSchema = z.union([waitingSchema, endedSchema, grantedSchema]).meta({
  id: "PolledDevice",
  description:
    "What became of it. The words are those of RFC 8628, section 3.5; none of them is an error of the question.",
  examples: [{ status: "authorization_pending" as const, interval: 5 }],
});

export const lookDeviceSchema = withExample(z.strictObject({ user_code: userCodeField }), { id: "LookDevice" });

export const seenDeviceSchema = withExample(
  z.strictObject({
    user_code: z.string().meta({ examples: [exampleUserCode] }),
    name: z.string().meta({ description: "As the program says. Nobody has checked it.", examples: [exampleName] }),
    environment: environmentField,
    address: z.string().meta({ description: "Where the program asked from.", examples: ["203.0.113.7"] }),
    same_address: z.boolean().meta({ description: "True where the one who reads this comes from there as well." }),
    user_agent: z.string().meta({ examples: ["gerbang-cli/0.1.0 (linux; node 20.18.1)"] }),
    asked_at: timestamp,
    expires_at: timestamp,
  }),
  { id: "SeenDevice", description: "What asks to be signed in." },
  { same_address: true, expires_at: exampleTimes.paid },
);

export const confirmDeviceSchema = z
  .strictObject({
    user_code: userCodeField,
    scopes: z
      .array(scopeField)
      .min(1)
      .max(scopes.length)
      .optional()
      .meta({ description: "What the key may do; everything that you may when left out." }),
  })
  .meta({
    id: "ConfirmDevice",
    examples: [{ user_code: exampleUserCode, scopes: ["payments:read", "sandbox:write"] }],
  });
