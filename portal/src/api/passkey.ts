// Passkeys: passes the service's options to the browser and returns its answer. The library is loaded at the first use.
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from "@simplewebauthn/browser";
import { ApiError } from "./error.ts";
import { type SessionView, personApi } from "./session.ts";
import type { Schema } from "./types.ts";

/** Whether the browser supports passkeys. */
export function knowsPasskeys(): boolean {
  return typeof window.PublicKeyCredential === "function";
}

const library = () => import("@simplewebauthn/browser");

export async function signInByPasskey(): Promise<SessionView> {
  const options = await personApi.write("POST", "/v1/session/passkey/options", {});
  return personApi.write("POST", "/v1/session/passkey", { body: { response: await signed(options) } });
}

export async function proveByPasskey(): Promise<SessionView> {
  const options = await personApi.write("POST", "/v1/session/proof/passkey/options", {});
  return personApi.write("POST", "/v1/session/proof/passkey", { body: { response: await signed(options) } });
}

export async function addPasskey(name: string): Promise<Schema<"Passkey">> {
  const options = await personApi.write("POST", "/v1/person/passkeys/options", {});
  const { startRegistration } = await library();
  const optionsJSON = options as unknown as PublicKeyCredentialCreationOptionsJSON;
  const response = await startRegistration({ optionsJSON }).catch(told);
  return personApi.write("POST", "/v1/person/passkeys", {
    body: { name, response: response as unknown as Schema<"PasskeyRegistration"> },
  });
}

async function signed(options: Schema<"PasskeyOptions">): Promise<Schema<"PasskeyAssertion">> {
  const { startAuthentication } = await library();
  const optionsJSON = options as unknown as PublicKeyCredentialRequestOptionsJSON;
  return (await startAuthentication({ optionsJSON }).catch(told)) as unknown as Schema<"PasskeyAssertion">;
}

/** Rethrows a browser's error as a sentence. Browsers do not tell a refusal by the person from one by the device. */
function told(error: unknown): never {
  const { name } = error as Error;
  const messages: Record<string, string> = {
    NotAllowedError:
      "The browser gave no passkey: it was cancelled, it took too long, or this device has none for here.",
    AbortError: "The browser gave no passkey: it was cancelled.",
    InvalidStateError: "This device has a passkey of yours already.",
    SecurityError: "Browsers take passkeys at a domain with https alone, or at localhost.",
  };
  const message = messages[name] ?? `The browser could not use a passkey (${name}).`;
  throw new ApiError({ code: "PASSKEY_NOT_GIVEN", message, status: 400 });
}
