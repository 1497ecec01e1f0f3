// Colours: on a terminal only, and never when NO_COLOR is set (https://no-color.org).
import { type Printable, type Value, styled, words } from "./text.ts";

export type Tone = "good" | "bad" | "warn" | "dim" | "bold";

const codes: Readonly<Record<Tone, number>> = { good: 32, bad: 31, warn: 33, dim: 2, bold: 1 };

export type Paint = (tone: Tone | undefined, text: Value) => Printable;

export const plain: Paint = (_tone, text) => words`${text}`;

const painted: Paint = (tone, text) => (tone === undefined ? words`${text}` : styled(codes[tone], text));

/** The painter for a stream: colours depend on whether it is a terminal, and on the environment. */
export function paintOf(
  stream: Pick<NodeJS.WriteStream, "isTTY">,
  environment: NodeJS.ProcessEnv = process.env,
): Paint {
  const refused = (environment.NO_COLOR ?? "") !== "" || environment.TERM === "dumb";
  return stream.isTTY && !refused ? painted : plain;
}

/** The tone of a status of the API. */
export function toneOf(status: string): Tone | undefined {
  if (/^(succeeded|paid|won|delivered|active|passed|resolved|live)$/.test(status)) return "good";
  if (/^(failed|lost|rejected|undeliverable|gave_up)$/.test(status)) return "bad";
  if (/^(pending|processing|opened|open|needs_response|under_review|waiting|retrying)$/.test(status)) return "warn";
  return /^(expired|canceled|refunded|withdrawn|inactive|deactivated|revoked)$/.test(status) ? "dim" : undefined;
}
