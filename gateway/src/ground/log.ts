// The log: structured lines, one for each request, without bodies, secrets and signatures.
import { type Logger, type LoggerOptions, pino, stdTimeFunctions } from "pino";

export type Log = Logger;

/** `to` takes the lines; standard output by default. */
export function createLog(level: string, to?: { write(line: string): void }): Log {
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: ["*.secret", "*.authorization", "*.signature", "authorization", "secret", "password", "*.password"],
      censor: "[redacted]",
    },
    serializers: { err: errorFacts },
  };
  return to ? pino(options, to) : pino(options);
}

/** The parts of an error that may be logged. Database errors have row values in `detail`, which is left out. */
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
