// Traces of requests, commands, round trips to the database, calls and deliveries. Without a configured receiver no tracing code is loaded,
// and these functions do nothing. Sending is in tracing-otlp.ts.
import type { Log } from "./log.ts";

/** The identity of a span, in hexadecimal as in the header `traceparent`. */
export interface SpanName {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

export type Attributes = Record<string, string | number | boolean | undefined>;

export interface Span {
  readonly name: SpanName;
  /** Adds attributes, which must hold no personal data and no secrets. */
  set(attributes: Attributes): void;
  rename(title: string): void;
  /** Links the span with another span that is not its parent. */
  link(to: SpanName): void;
  /** Ends the span. `failed`: a code or word for the failure; undefined on success. */
  end(failed?: string): void;
}

export interface SpanBeginning {
  kind?: "internal" | "server" | "client";
  parent?: SpanName | undefined;
  links?: readonly SpanName[];
  attributes?: Attributes;
  /** The header `traceparent` of a request: the parent if its sender is trusted, else a link. */
  sent?: { traceparent: string | undefined; trusted: boolean };
}

export interface Tracing {
  /** Begins a span; undefined when nothing is traced. */
  begin(title: string, beginning: SpanBeginning): Span | undefined;
  /** Runs `work` with a span as the current one, also in its asynchronous continuations. */
  within<T>(span: Span | undefined, work: () => T): T;
  current(): Span | undefined;
  /** Remembers the span that wrote an event, for the delivery of the event in this process. The latest few thousand are kept. */
  remember(eventId: string, span: Span): void;
  remembered(eventId: string): SpanName | undefined;
  /** Sends the spans that wait. Never throws. */
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
  /** Address of an OTLP receiver over HTTP, without /v1/traces. */
  endpoint: string;
  serviceName: string;
  version: string;
  /** The part of the traces that begin here which is kept, 0 to 1. */
  ratio: number;
}

/** Opens tracing; without options, tracing that does nothing. */
export async function openTracing(options: TracingOptions | undefined, log: Log): Promise<Tracing> {
  if (options === undefined) return noTracing;
  const { OtlpTracing } = await import("./tracing-otlp.ts");
  return new OtlpTracing(options, log);
}
