// Checks an entry: whether each of Midtrans' hosts accepts the key, and how far Midtrans' clock is from Gerbang's.
import type { Checked } from "../../acquirers/acquirer.ts";
import type { CallContext } from "../caller.ts";
import { statusCodeOf } from "./answers.ts";
import type { Host } from "./host.ts";

/** Asks for an order that does not exist: 404 means that the key is good. Orders an empty card page: 400, for missing fields, means the same. */
export async function check(host: Host, context: CallContext): Promise<Checked> {
  const core = await host.get("/v2/gerbang-check/status", context);
  const findings = [finding("The Core API", statusCodeOf(core), "404")];
  if (host.profile.methods.some(({ method, on }) => on && method === "card")) {
    const page = await host.post("/snap/v1/transactions", {}, context, { baseUrl: host.snap });
    findings.push(finding("The page for cards (Snap)", String(page.status), "400"));
  }
  const { date } = core.headers;
  const theirs = typeof date === "string" ? Date.parse(date) : Number.NaN;
  const ours = Math.floor(host.clock.now() / 1_000);
  return { findings, clockDifferenceMs: Number.isNaN(theirs) ? undefined : theirs - ours };
}

function finding(what: string, code: string, good: string): Checked["findings"][number] {
  if (code === good) return { well: true, text: `${what} accepts the server key.` };
  const why = code === "401" ? "refuses the server key: is it of this environment?" : `answered ${code}.`;
  return { well: false, text: `${what} ${why}` };
}
