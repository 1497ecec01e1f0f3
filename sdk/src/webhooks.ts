// Everything about webhooks: `gerbang.webhooks`, and the entry `@gerbang/sdk/webhooks` for a receiver that calls nothing.
export { type Claim, EventBusyError, type EventStore, type MemoryStoreOptions, memoryStore } from "./claims.ts";
export { type Handler, type HandlerOptions, type Listeners, handler } from "./receiver.ts";
export {
  type ClaimOptions,
  type DeliveryHeaders,
  type Secrets,
  type SignOptions,
  type UnwrapOptions,
  WebhookError,
  type WebhookStep,
  sign,
  unwrap,
} from "./verify.ts";
