// The cheapest harmless call: whether the provider gives a token for Gerbang's key, and how far apart the clocks are.
import type { Checked } from "../../acquirers/acquirer.ts";
import type { Clock } from "../../ground/clock.ts";
import type { CallContext } from "../caller.ts";
import type { SnapClient } from "./client.ts";

/** Asks for a token and does not use it. `title` names the provider in the findings. Throws when no answer arrives. */
export async function checkKeys(client: SnapClient, title: string, clock: Clock, call: CallContext): Promise<Checked> {
  const sent = clock.now();
  const checked = await client.check(call);
  const { date } = checked.answer.headers;
  const theirs = typeof date === "string" ? Date.parse(date) : Number.NaN;
  return {
    findings: [
      "seconds" in checked
        ? { well: true, text: `${title} gives tokens for our key, good for ${checked.seconds} seconds` }
        : { well: false, text: `${title} gives no token for our key: ${checked.problem}` },
    ],
    // The difference matters most with a refusal: a provider refuses a signature with a wrong time as if the key were wrong.
    clockDifferenceMs: Number.isNaN(theirs) ? undefined : Math.round(theirs - (sent + clock.now()) / 2_000),
  };
}
