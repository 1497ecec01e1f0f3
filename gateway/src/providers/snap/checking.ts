// The cheapest harmless call: whether they give a token for our key, and how far the clocks are apart.
import type { Checked, Tell } from "../../acquirers/acquirer.ts";
import type { Clock } from "../../ground/clock.ts";
import type { SnapClient } from "./client.ts";

/** Asks for a token that is used for nothing. `title` is their name in the findings. Throws when no answer can be had. */
export async function checkKeys(
  client: SnapClient,
  title: string,
  clock: Clock,
  signal: AbortSignal,
  tell?: Tell,
): Promise<Checked> {
  const sent = clock.now();
  const checked = await client.check(signal, tell);
  const { date } = checked.answer.headers;
  const theirs = typeof date === "string" ? Date.parse(date) : Number.NaN;
  return {
    findings: [
      "seconds" in checked
        ? { well: true, text: `${title} gives tokens for our key, good for ${checked.seconds} seconds` }
        : { well: false, text: `${title} gives no token for our key: ${checked.problem}` },
    ],
    // Told with a refusal above all: what is signed by a wrong clock is refused as if the key were wrong.
    clockDifferenceMs: Number.isNaN(theirs) ? undefined : Math.round(theirs - (sent + clock.now()) / 2_000),
  };
}
