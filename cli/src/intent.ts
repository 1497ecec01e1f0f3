// The options of a call that changes something.
import type { Change } from "./common.ts";
import { stopped } from "./output/print.ts";

/**
 * One key for one intent. Ctrl-C ends the call rather than the program, so that the person is told the key: without it the same command again would be
 * another intent.
 */
export const intent = (values: Pick<Change, "idempotency-key">, key = values["idempotency-key"]) => ({
  idempotencyKey: key,
  signal: stopped(),
});
