// The check of an entry: whether the key works at each of their hosts, and how far their clock is from ours.
import type { Checked } from "../../acquirers/acquirer.ts";
import { statusCodeOf } from "./answers.ts";
import type { Context, Host } from "./host.ts";

/** Asks for an order that does not exist: 404 says that the key is good. An empty page is refused for what it lacks. */
export async function check(host: Host, context: Context): Promise<Checked> {
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
