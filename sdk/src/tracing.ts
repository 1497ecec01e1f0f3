// Spans of OpenTelemetry around calls. The types copy those of `@opentelemetry/api`, which the application brings: nothing is imported.
import { GerbangError } from "./errors.ts";
import type { Answer } from "./answer.ts";
import type { Call } from "./transport.ts";

interface Span {
  setAttribute(name: string, value: string | number): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  end(): void;
}

export interface Tracer {
  startActiveSpan<Result>(
    name: string,
    options: { kind: number; attributes: Record<string, string> },
    run: (span: Span) => Result,
  ): Result;
}

const CLIENT = 2;
const ERROR = 2;

/** Runs a call within its own span, if there is a tracer. */
export function traced<Result extends Answer>(
  tracer: Tracer | undefined,
  call: Call,
  run: () => Promise<Result>,
): Promise<Result> {
  if (tracer === undefined) return run();
  const attributes = { "http.request.method": call.method, "url.path": call.target.split("?")[0] ?? "" };
  return tracer.startActiveSpan(`gerbang ${call.operation}`, { kind: CLIENT, attributes }, async (span) => {
    const said = (status: number | undefined, requestId: string | undefined): void => {
      if (status !== undefined) span.setAttribute("http.response.status_code", status);
      if (requestId !== undefined) span.setAttribute("gerbang.request_id", requestId);
    };
    try {
      const answer = await run();
      said(answer.status, answer.requestId);
      return answer;
    } catch (error) {
      if (error instanceof GerbangError) {
        said(error.status, error.requestId);
        span.setAttribute("error.type", error.code);
      }
      span.setStatus({ code: ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}
