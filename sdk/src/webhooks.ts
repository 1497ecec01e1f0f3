// Everything about webhooks: `gerbang.webhooks`, and the entry `@gerbang/sdk/webhooks` for a receiver that calls nothing.
export { type Handler, type HandlerOptions, type Listeners, handler } from "./receiver.ts";
export {
  type DeliveryHeaders,
  type EventStore,
  type SignOptions,
  type UnwrapOptions,
  WebhookError,
  type WebhookStep,
  sign,
  unwrap,
} from "./verify.ts";
