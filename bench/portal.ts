// The case `portal`: loading times of the portal's pages while payments are created, on a book that has many payments already.
import { round, sound, warm, withReceiver } from "./case.ts";
import { type FirstPage, firstPages } from "./first-page.ts";
import { fill } from "./growth.ts";
import type { Options, Result } from "./result.ts";
import { type LoadReport, type Stage, rateOf } from "./stage.ts";
import { gerbang } from "../e2e/kit/service.ts";

/** Creations per second while pages are loaded. */
const CREATIONS_PER_S = 1_000;
/** Longest p95 of a page: a person does not notice such a wait. */
const PAGE_P95_MAX_MS = 100;
/** Longest time for a browser without a cache until its first page shows its data. */
const FIRST_PAGE_MAX_MS = 1_000;
/** Days over which the payments are spread. */
const PAST_DAYS = 91;
/** People who load pages at the same time. */
const PEOPLE = 2;

const homeOver = (range: string): string[] => [
  "/overview?time_zone=Asia/Jakarta",
  ...["method", "outcome", "acquirer"].map((by) => `/insights/payments?range=${range}&by=${by}`),
];

/** The requests of each page, which it sends at once. `{reference}` is a payment from the list. */
const pages: Record<string, readonly string[]> = {
  // The home page as it opens, and with its longest range.
  home: homeOver("week"),
  "home, 91 days": homeOver("quarter"),
  payments: ["/payments/search"],
  // The search scans the newest 20,000 payments and finds none.
  "payments, nothing found": ["/payments/search?status=expired&payment_method=va"],
  payment: ["/payments/{reference}/story"],
  search: ["/search?q={reference}"],
  refunds: ["/refunds"],
  disputes: ["/disputes?status=needs_response"],
  settlements: ["/settlements"],
  balances: ["/balances", "/balances/IDR/entries"],
  ledger: ["/accounts", "/journals"],
  keys: ["/credentials"],
  webhooks: ["/webhook", "/deliveries"],
  events: ["/events", "/events?type=payment.created"],
  requests: ["/requests"],
  idempotency: ["/idempotency-keys"],
  settings: ["/settings"],
  team: ["/team", "/team/invitations"],
  audit: ["/audit"],
};

interface Seen {
  /** Milliseconds of each load, by page. */
  loads: Map<string, number[]>;
  wrong: Record<string, number>;
}

/** Signs the demo merchant's owner in by the link that a development start makes. Gives the headers of the owner's requests. */
async function signIn(stage: Stage): Promise<{ cookie: string; "x-merchant-id": string; "x-environment": string }> {
  const { origin, merchantId, signInToken } = stage.owner;
  const answer = await fetch(`${origin}/portal/v1/session/link`, {
    method: "POST",
    headers: { "content-type": "application/json", origin, "sec-fetch-site": "same-origin" },
    body: JSON.stringify({ token: signInToken }),
  });
  const cookie = answer.headers.getSetCookie()[0]?.split(";")[0];
  if (cookie === undefined) throw new Error(`the owner could not sign in: ${answer.status}`);
  return { cookie, "x-merchant-id": merchantId, "x-environment": "sandbox" };
}

/** Loads page after page, with all requests of a page at once, until `ending` is aborted. */
async function look(origin: string, headers: Record<string, string>, ending: AbortSignal): Promise<Seen> {
  const seen: Seen = { loads: new Map(), wrong: {} };
  const ask = async (path: string): Promise<unknown> => {
    const answer = await fetch(`${origin}/portal/v1${path}`, { headers });
    if (answer.ok) return answer.json();
    await answer.text();
    const what = `${answer.status} ${path.split("?")[0]}`;
    seen.wrong[what] = (seen.wrong[what] ?? 0) + 1;
    return undefined;
  };
  const list = (await ask("/payments")) as { data: { reference: string }[] };
  for (let round = 0; !ending.aborted; round++) {
    const reference = list.data[round % list.data.length]?.reference ?? "";
    for (const [page, paths] of Object.entries(pages)) {
      const begun = performance.now();
      await Promise.all(paths.map((path) => ask(path.replace("{reference}", reference))));
      const loads = seen.loads.get(page) ?? [];
      loads.push(performance.now() - begun);
      seen.loads.set(page, loads);
    }
  }
  return seen;
}

const at = (sorted: readonly number[], share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;

/**
 * Loads every page's data while a thousand payments per second are created and delivered, on a book of `rows` payments. The ratio compares the
 * creations with the same without pages. The notes have each page's p95, and a browser's time to its first page when nothing else runs.
 */
export const portal = ({ seconds, rows, processes }: Options): Promise<Result> =>
  withReceiver({ processes }, async (stage) => {
    const senders = [stage.sender];
    await stage.load({ ...warm(seconds), label: "first", seconds: 1, senders, lifecycle: true });
    await fill(stage.ownerUrl, rows, { days: 1, over: PAST_DAYS });
    const begun = performance.now();
    const counted = await gerbang(["insights", "rebuild"], { GERBANG_DATA: stage.dataDirectory });
    const rebuildSeconds = (performance.now() - begun) / 1000;
    const headers = await signIn(stage);
    const load = { senders, pace: CREATIONS_PER_S };
    await stage.load({ ...warm(seconds), ...load });
    const alone = await stage.load({ label: "alone", seconds, ...load });
    const ending = new AbortController();
    const { origin } = stage.owner;
    const people = Array.from({ length: PEOPLE }, () => look(origin, headers, ending.signal));
    const run = await stage.load({ label: "run", seconds, ...load }).finally(() => ending.abort());
    const seen = await Promise.all(people);
    const first = await firstPages(origin, headers.cookie, headers["x-merchant-id"]);
    return result({ run, alone, seen, first, rebuildSeconds, rebuilt: counted.code === 0, stage });
  });

async function result(measured: {
  run: LoadReport;
  alone: LoadReport;
  seen: readonly Seen[];
  first: readonly FirstPage[];
  rebuildSeconds: number;
  rebuilt: boolean;
  stage: Stage;
}): Promise<Result> {
  const { run, alone, seen, first, stage } = measured;
  const byPage = Object.keys(pages).map((page) => {
    const loads = seen.flatMap(({ loads }) => loads.get(page) ?? []).toSorted((a, b) => a - b);
    return { page, loads: loads.length, p50: at(loads, 0.5), p95: at(loads, 0.95) };
  });
  const slowest = byPage.toSorted((a, b) => b.p95 - a.p95)[0];
  const quick = [
    (slowest?.p95 ?? Infinity) <= PAGE_P95_MAX_MS,
    ...first.map(({ took }) => (took.at(-1) ?? Infinity) < FIRST_PAGE_MAX_MS),
  ];
  const wrong: Record<string, number> = {};
  for (const one of seen)
    for (const [what, times] of Object.entries(one.wrong)) wrong[what] = (wrong[what] ?? 0) + times;
  const memory = stage.memory();
  const verified = (await stage.verify()).clean && measured.rebuilt;
  const failed = Object.values(wrong).reduce((sum, times) => sum + times, 0);
  const errors = run.errors + alone.errors + failed;
  const ratio = rateOf(run) / rateOf(alone);
  return {
    case: "portal",
    rate_per_s: round(rateOf(run)),
    baseline: "creations without anybody at the pages",
    baseline_per_s: round(rateOf(alone)),
    ratio: round(ratio, 2),
    aim: 0.97,
    met: ratio >= 0.97 && quick.every(Boolean) && sound({ ...run, errors }, { verified }),
    p50_ms: run.p50_ms,
    p99_ms: run.p99_ms,
    errors,
    ...(memory !== undefined && { memory_mib: memory }),
    verified,
    notes: {
      p99_ms_alone: alone.p99_ms,
      slowest_page: slowest?.page ?? "",
      slowest_p95_ms: round(slowest?.p95 ?? 0, 1),
      ...Object.fromEntries(
        byPage.map(({ page, loads, p50, p95 }) => [page, `p50 ${round(p50, 1)} p95 ${round(p95, 1)} of ${loads}`]),
      ),
      ...Object.fromEntries(
        first.map(({ page, took }) => [
          `first page, ${page}`,
          `p50 ${round(at(took, 0.5))} slowest ${round(took.at(-1) ?? 0)} ms of ${took.length}`,
        ]),
      ),
      rebuild_s: round(measured.rebuildSeconds, 1),
      ...wrong,
      ...run.reasons,
    },
  };
}
