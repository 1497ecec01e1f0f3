// The shapes of passkeys. WebAuthn structures keep the field names of browsers; every text in them is bounded.
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { z } from "zod";
import { exampleTimes } from "../http/examples.ts";
import { identity, listSchema, text, timestamp, withExample } from "../http/shapes.ts";

const bytes = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[\w-]*$/, "must be base64url");
const exampleBytes = "yPz0jRV0dWJxYGTF3mKq2A";

/** Options for a browser, which pages pass to `navigator.credentials` unchanged. */
export const passkeyOptionsSchema = z.looseObject({ challenge: z.string() }).meta({
  id: "PasskeyOptions",
  description:
    "For `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON` of the browser.",
  examples: [{ challenge: exampleBytes }],
});

const shared = {
  id: bytes(1400),
  rawId: bytes(1400),
  type: z.literal("public-key"),
  clientExtensionResults: z.looseObject({}).meta({ id: "PasskeyExtensions", description: "Kept by nobody." }),
  authenticatorAttachment: z.enum(["platform", "cross-platform"]).nullish(),
};

const registration = z
  .strictObject({
    ...shared,
    response: z
      .strictObject({
        clientDataJSON: bytes(8192),
        attestationObject: bytes(8192),
        transports: z.array(z.string().max(32)).max(10).optional(),
        publicKeyAlgorithm: z.int().optional(),
        publicKey: bytes(4096).nullish(),
        authenticatorData: bytes(4096).optional(),
      })
      .meta({ id: "PasskeyAttestation" }),
  })
  .meta({ id: "PasskeyRegistration", description: "`toJSON()` of the new credential." });

const assertion = z
  .strictObject({
    ...shared,
    response: z
      .strictObject({
        clientDataJSON: bytes(8192),
        authenticatorData: bytes(4096),
        signature: bytes(4096),
        userHandle: bytes(128).nullish(),
      })
      .meta({ id: "PasskeySignature" }),
  })
  .meta({ id: "PasskeyAssertion", description: "`toJSON()` of what the device signed." });

const exampleAssertion = {
  response: {
    id: exampleBytes,
    rawId: exampleBytes,
    type: "public-key" as const,
    clientExtensionResults: {},
    response: { clientDataJSON: exampleBytes, authenticatorData: exampleBytes, signature: exampleBytes },
  },
};

export const addPasskeySchema = z.strictObject({ name: text(1, 60), response: registration }).meta({
  id: "AddPasskey",
  examples: [
    {
      name: "Sari's phone",
      response: {
        ...exampleAssertion.response,
        response: { clientDataJSON: exampleBytes, attestationObject: exampleBytes },
      },
    },
  ],
});
export const signedByPasskeySchema = z
  .strictObject({ response: assertion })
  .meta({ id: "SignedByPasskey", examples: [exampleAssertion] });

/** Browsers send null for absent fields; the library's types only allow leaving them out. */
export const registrationOf = ({ response }: z.infer<typeof addPasskeySchema>): RegistrationResponseJSON =>
  withoutNulls(response) as RegistrationResponseJSON;
export const assertionOf = ({ response }: z.infer<typeof signedByPasskeySchema>): AuthenticationResponseJSON =>
  withoutNulls(response) as AuthenticationResponseJSON;

function withoutNulls(sent: { response: object }): unknown {
  const kept = (object: object): object =>
    Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null && value !== undefined));
  return { ...kept(sent), response: kept(sent.response) };
}

export const passkeySchema = withExample(
  z.strictObject({
    passkey_id: identity("passkey"),
    name: z.string(),
    created_at: timestamp,
    used_at: timestamp.nullable().meta({ description: "When it last signed." }),
    synced: z.boolean().meta({ description: "True when the person's other devices have it too." }),
  }),
  { id: "Passkey" },
  { name: "Sari's phone", used_at: exampleTimes.paid, synced: true },
);
export const passkeyListSchema = listSchema(passkeySchema, "PasskeyList");
