// Traces: what a request, a command, a flight to the database, a call and a delivery took, and how they hang together. Nothing of it is loaded
// unless an address to send them to is configured; until then each of these functions does nothing.
import type { Log } from "./log.ts";

/** What names a span to others: hexadecimal, as in the header `traceparent`. */
export interface SpanName {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

export type Attributes = Record<string, string | number | boolean | undefined>;

export interface Span {
  readonly name: SpanName;
  /** Says more of it. Never anything personal or secret. */
  set(attributes: Attributes): void;
  rename(title: string): void;
  /** Says that it has to do with another one that is not its parent. */
  link(to: SpanName): void;
  /** `failed`: the code or the word of what went wrong. */
  end(failed?: string): void;
}

export interface SpanBeginning {
  kind?: "internal" | "server" | "client";
  parent?: SpanName | undefined;
  links?: readonly SpanName[];
  attributes?: Attributes;
  /** The header `traceparent` of a request; the parent where its sender is trusted, else a link. */
  sent?: { traceparent: string | undefined; trusted: boolean };
}

export interface Tracing {
  /** Begins a span. Undefined where nothing is traced. */
  begin(title: string, beginning: SpanBeginning): Span | undefined;
  /** Runs `work` with a span as the current one, in all that it waits for. */
  within<T>(span: Span | undefined, work: () => T): T;
  current(): Span | undefined;
  /** Remembers in which span an event came to be, for whoever in this process delivers it. The latest few thousand are kept. */
  remember(eventId: string, span: Span): void;
  remembered(eventId: string): SpanName | undefined;
  /** Sends what is left. Never throws. */
  stop(): Promise<void>;
}

export const noTracing: Tracing = {
  begin: () => undefined,
  within: (_span, work) => work(),
  current: () => undefined,
  remember: () => undefined,
  remembered: () => undefined,
  stop: () => Promise.resolve(),
};

export interface TracingOptions {
  /** Of an OTLP receiver over HTTP, without /v1/traces. */
  endpoint: string;
  serviceName: string;
  version: string;
  /** Of the traces that begin here, the part that is kept: 0 to 1. */
  ratio: number;
}

/** Tracing as configured: with an address to send to, or none. */
export async function openTracing(options: TracingOptions | undefined, log: Log): Promise<Tracing> {
  if (options === undefined) return noTracing;
  const { OtlpTracing } = await import("./tracing-otlp.ts");
  return new OtlpTracing(options, log);
}
