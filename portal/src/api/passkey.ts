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
  const response = await startRegistration({ optionsJSON }).catch(explain);
  return personApi.write("POST", "/v1/person/passkeys", {
    body: { name, response: response as unknown as Schema<"PasskeyRegistration"> },
  });
}

async function signed(options: Schema<"PasskeyOptions">): Promise<Schema<"PasskeyAssertion">> {
  const { startAuthentication } = await library();
  const optionsJSON = options as unknown as PublicKeyCredentialRequestOptionsJSON;
  return (await startAuthentication({ optionsJSON }).catch(explain)) as unknown as Schema<"PasskeyAssertion">;
}

/** Rethrows a browser's error as a sentence. Browsers do not tell a refusal by the person from one by the device. */
function explain(error: unknown): never {
  const { name } = error as Error;
  const messages: Record<string, string> = {
    NotAllowedError:
      "The browser provided no passkey: the request was cancelled or timed out, or this device has none for this site. Try again.",
    AbortError: "The passkey request was cancelled. Try again.",
    InvalidStateError: "This device already has one of your passkeys.",
    SecurityError: "Passkeys work only on a domain served over https, or on localhost.",
  };
  const message = messages[name] ?? `The browser could not use a passkey (${name}).`;
  throw new ApiError({ code: "PASSKEY_NOT_GIVEN", message, status: 400 });
}
