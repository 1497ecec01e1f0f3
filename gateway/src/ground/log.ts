// The log: structured lines, one for each request, never a body, a secret or a signature.
import { pino, type Logger } from "pino";

export type Log = Logger;

export function createLog(level: string): Log {
  return pino({
    level,
    base: null,
    redact: {
      paths: ["*.secret", "*.authorization", "*.signature", "authorization", "secret", "password", "*.password"],
      censor: "[redacted]",
    },
    serializers: { err: errorFacts },
  });
}

/** What of an error may be logged: database errors carry row values in `detail`, which stay out. */
function errorFacts(error: unknown): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const code = (error as { code?: unknown }).code;
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === "string" ? { code } : {}),
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: errorFacts(error.cause) }),
  };
}
