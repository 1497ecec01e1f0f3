// The receiver that the webhook tools work on: the address registered for the caller's sandbox.
import { Fault } from "../ground/fault.ts";
import type { Call } from "../http/endpoint.ts";
import type { Webhook } from "../merchants/directory.ts";

export type Receiver = Webhook & { url: string };

/** The caller's webhook address and signing secrets; undefined when no address is registered. */
export function receiverOf({ merchant, book }: Call): Receiver | undefined {
  const webhook = merchant.webhooks[book.environment];
  return webhook?.url === undefined ? undefined : { ...webhook, url: webhook.url };
}

export function noReceiver(): Fault {
  return new Fault("OBJECT_NOT_FOUND", {
    message:
      "No address is registered for the webhooks of your sandbox. Register one, then ask again with a new Idempotency-Key.",
  });
}
