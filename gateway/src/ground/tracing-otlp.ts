// Traces sent by OTLP over HTTP. The only file that uses OpenTelemetry; it is loaded only when a receiver is configured.
import { AsyncLocalStorage } from "node:async_hooks";
import * as api from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { stopwatchMs } from "./clock.ts";
import type { Log } from "./log.ts";
import { NewestMap } from "./newest.ts";
import type { Attributes, Span, SpanBeginning, SpanName, Tracing, TracingOptions } from "./tracing.ts";

/** Spans that may wait to be sent; further ones are dropped. */
const WAITING_MAX = 4_096;
const SEND_MS = 1_000;
const SEND_WITHIN_MS = 3_000;
const EVENTS_MAX = 5_000;
const COMPLAIN_EVERY_MS = 60_000;

const kinds = { internal: api.SpanKind.INTERNAL, server: api.SpanKind.SERVER, client: api.SpanKind.CLIENT };

export class OtlpTracing implements Tracing {
  private readonly provider: TracerProvider;
  private readonly tracer: api.Tracer;
  private readonly running = new AsyncLocalStorage<Span>();
  private readonly events = new NewestMap<string, SpanName>(EVENTS_MAX);

  constructor({ endpoint, serviceName, version, ratio }: TracingOptions, log: Log) {
    complainTo(log);
    const exporter = new OTLPTraceExporter({
      url: `${endpoint.replace(/\/$/, "")}/v1/traces`,
      timeoutMillis: SEND_WITHIN_MS,
    });
    this.provider = new TracerProvider({
      resource: resourceFromAttributes({ "service.name": serviceName, "service.version": version }),
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
      spanLimits: { attributeValueLengthLimit: 300, linkCountLimit: 256 },
      spanProcessors: [
        new BatchSpanProcessor({
          exporter,
          maxQueueSize: WAITING_MAX,
          scheduledDelayMillis: SEND_MS,
          exportTimeoutMillis: SEND_WITHIN_MS,
        }),
      ],
    });
    this.tracer = this.provider.getTracer("gerbang", version);
  }

  begin(title: string, { kind = "internal", parent, links = [], attributes, sent }: SpanBeginning): Span {
    const sender = parseTraceparent(sent?.traceparent);
    const over = parent ?? (sent?.trusted === true ? sender : undefined);
    const beside = sender && over !== sender ? [...links, sender] : links;
    const span = this.tracer.startSpan(
      title,
      {
        kind: kinds[kind],
        links: beside.map((name) => ({ context: name })),
        ...(attributes ? { attributes } : {}),
      },
      over ? api.trace.setSpanContext(api.ROOT_CONTEXT, over) : api.ROOT_CONTEXT,
    );
    return new OtlpSpan(span);
  }

  within<T>(span: Span | undefined, work: () => T): T {
    return span ? this.running.run(span, work) : work();
  }

  current(): Span | undefined {
    return this.running.getStore();
  }

  remember(eventId: string, { name }: Span): void {
    this.events.set(eventId, name);
  }

  remembered(eventId: string): SpanName | undefined {
    return this.events.get(eventId);
  }

  async stop(): Promise<void> {
    try {
      await this.provider.shutdown();
    } catch (error) {
      api.diag.error(String(error)); // the remaining spans are lost; logged like every failure to send
    }
    api.diag.disable();
  }
}

class OtlpSpan implements Span {
  private readonly span: api.Span;
  readonly name: SpanName;

  constructor(span: api.Span) {
    this.span = span;
    this.name = span.spanContext();
  }

  set(attributes: Attributes): void {
    this.span.setAttributes(attributes);
  }

  rename(title: string): void {
    this.span.updateName(title);
  }

  link(to: SpanName): void {
    this.span.addLink({ context: to });
  }

  end(failed?: string): void {
    if (failed !== undefined) {
      this.span.setAttribute("error.type", failed);
      this.span.setStatus({ code: api.SpanStatusCode.ERROR });
    }
    this.span.end();
  }
}

/** Reads version 00 of W3C Trace Context; undefined for anything else, which is ignored. */
function parseTraceparent(text: string | undefined): (SpanName & { isRemote: true }) | undefined {
  const [, traceId, spanId, flags] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & api.TraceFlags.SAMPLED, isRemote: true };
}

/** Logs failures to send, once a minute at most. Requests are served regardless. */
function complainTo(log: Log): void {
  let complainedMs = -Infinity;
  const complain = (reason: string): void => {
    if (stopwatchMs() - complainedMs < COMPLAIN_EVERY_MS) return;
    complainedMs = stopwatchMs();
    log.warn({ reason: reason.slice(0, 300) }, "traces could not be sent");
  };
  const nothing = (): void => undefined;
  api.diag.setLogger(
    { error: complain, warn: complain, info: nothing, debug: nothing, verbose: nothing },
    { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}
