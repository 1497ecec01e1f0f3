// The entry of `@gerbang/sdk`.
export { Gerbang as default, Gerbang, type GerbangOptions } from "./gerbang.ts";
export type { CallOptions, ReadOptions } from "./calls.ts";
export { type ApiErrorCode, type ClientErrorCode, type ErrorCode, type ErrorDetails, GerbangError } from "./errors.ts";
export { List, type Page } from "./list.ts";
export type { WaitOptions } from "./payments.ts";
export type { Tracer } from "./tracing.ts";
export type { AttemptInfo, Hooks } from "./transport.ts";
export type * from "./types.ts";
export { version } from "./version.ts";
export { WebhookError, type WebhookStep } from "./webhooks.ts";
