// The case `payer`: a thousand open checkout pages per process, which wait for their payments as browsers do, while payments are created.
import { type ClientRequest, get } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { onStage, round, sound, warm } from "./case.ts";
import type { Options, Result } from "./result.ts";
import { type LoadReport, type Stage, rateOf } from "./stage.ts";

const PAGES_PER_PROCESS = 1_000;
/** Creations per second while the pages are open. */
const CREATIONS_PER_S = 500;
const AIM = 0.97;
/** Longest p99 until a page hears that it is paid: a payer who has just paid looks at the page. */
const HEARD_P99_MAX_MS = 1_000;
const PAGE_P99_MAX_MS = 300;
const WEIGHT_MAX_BYTES = 60_000;
/** A page that has not heard for this long counts as wrong. */
const LOST_MS = 10_000;

/** All pages come from one address, and the service limits the connections and requests of an address. */
const ONE_ADDRESS = { CONNECTIONS_PER_ADDRESS: "10000", UNAUTHENTICATED_LIMIT_PER_MINUTE: "1000000" };

/** Time after which a browser reopens a lost stream, as the service tells it. */
const RETRY_MS = 2_000;

/** An open page: its event stream, which is reopened when it is lost, as in browsers. */
class Page {
  readonly reference: string;
  readonly url: string;
  /** Times by `performance.now()` at which the page first heard that it is open, and that it is paid. */
  readonly open = Promise.withResolvers<number>();
  readonly paid = Promise.withResolvers<number>();
  private isPaid = false;
  /** Times that the stream was lost. */
  lost = 0;
  private request: ClientRequest | undefined;
  private closed = false;

  constructor(reference: string, url: string) {
    this.reference = reference;
    this.url = url;
    this.listen();
  }

  close(): void {
    this.closed = true;
    this.request?.destroy();
  }

  private listen(): void {
    const request = get(`${this.url}/stream`, { agent: false, headers: { accept: "text/event-stream" } }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
        if (text.includes('"face":"open"')) this.open.resolve(performance.now());
        if (text.includes('"face":"paid"')) {
          this.isPaid = true;
          this.paid.resolve(performance.now());
        }
        text = text.slice(text.lastIndexOf("\n\n") + 1);
      });
      answer.on("error", () => undefined); // the `close` event below handles it
    });
    this.request = request;
    request.on("error", () => undefined);
    request.on("close", () => {
      if (this.closed || this.isPaid) return;
      this.lost++;
      setTimeout(() => !this.closed && this.listen(), RETRY_MS);
    });
  }
}

/** Awaits a promise for LOST_MS at most; throws when it takes longer. */
async function inTime<T>(promised: Promise<T>, what: string): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`did not hear that it is ${what}`)), LOST_MS);
  try {
    return await Promise.race([promised, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Creates payments and opens the page of each on one of the processes. Throws when a page does not hear that it is open. */
async function openPages(stage: Stage): Promise<Page[]> {
  const { origins, client } = stage;
  const count = PAGES_PER_PROCESS * origins.length;
  const pages: Page[] = [];
  let next = 0;
  const one = async (number: number): Promise<void> => {
    const payment = { amount_minor: 900_000, currency: "IDR", payment_method: "qris", reference_id: `page-${number}` };
    const { json } = await client.post("/v1/payments", payment);
    const { pathname } = new URL(json.checkout_url as string);
    pages.push(new Page(json.reference as string, `${origins[number % origins.length]}${pathname}`));
  };
  const lines = Array.from({ length: 16 }, async () => {
    while (next < count) await one(next++);
  });
  await Promise.all(lines);
  await Promise.all(pages.map(({ open }) => inTime(open.promise, "open")));
  return pages;
}

interface Seen {
  /** Milliseconds from paying a payment until its page hears of it. */
  heard: number[];
  /** Milliseconds of loading the page that shows the payment. */
  loaded: number[];
  /** Failed requests, and pages that did not hear of the payment or did not show it, by reason. */
  wrong: Record<string, number>;
}

/** Pays the payments one after another, evenly over the time, and reloads each page once it has heard. */
async function payAll(stage: Stage, pages: readonly Page[], seconds: number): Promise<Seen> {
  const seen: Seen = { heard: [], loaded: [], wrong: {} };
  const begun = performance.now();
  const pay = async ({ reference, url, paid }: Page, number: number): Promise<void> => {
    await pause(Math.max(0, begun + (number * seconds * 1000) / pages.length - performance.now()));
    const paidAt = performance.now();
    // The signature does not cover the path, so each body must differ: white space makes it unique.
    await stage.client.post(
      `/v1/sandbox/payments/${reference}/simulate`,
      `{"outcome":"succeeded"}${" ".repeat(number)}`,
    );
    seen.heard.push((await inTime(paid.promise, "paid")) - paidAt);
    const askedAt = performance.now();
    const text = await (await fetch(url)).text();
    seen.loaded.push(performance.now() - askedAt);
    if (!text.includes('data-face="paid"')) throw new Error("does not say that it is paid");
  };
  await Promise.all(
    pages.map((page, number) =>
      pay(page, number).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        seen.wrong[reason] = (seen.wrong[reason] ?? 0) + 1;
      }),
    ),
  );
  return seen;
}

/** The bytes of an answer's body as they are sent, compressed or not. */
function bytesOf(url: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false, headers: { "accept-encoding": "br, gzip" } }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on("data", (piece: Buffer) => pieces.push(piece)).on("end", () => resolve(Buffer.concat(pieces)));
    }).on("error", reject);
  });
}

/** Bytes that a phone loads for a page: the page itself, its style, its script and its logo. */
async function weigh(url: string): Promise<number> {
  const page = await bytesOf(url);
  const named = [...page.toString("utf8").matchAll(/(?:href|src)="(\/(?:checkout|logos)\/[^"]+)"/g)];
  if (named.length < 2) throw new Error("the page names no style and no script");
  const parts = await Promise.all(named.map(([, path = ""]) => bytesOf(new URL(path, url).href)));
  return [page, ...parts].reduce((sum, { length }) => sum + length, 0);
}

/** CPU time of the service and PostgreSQL per page: paying its payment, its waiting and its reload. */
function cpuOfAPage(run: LoadReport, alone: LoadReport, pages: number): Record<string, number> {
  const total = ({ cpu_us: used }: LoadReport): number =>
    (used?.service ?? Number.NaN) + (used?.postgres ?? Number.NaN);
  const beyond = total(run) - (total(alone) / alone.requests) * run.requests;
  return Number.isNaN(beyond) ? {} : { cpu_us_a_page: round(beyond / pages) };
}

const at = (values: readonly number[], share: number): number =>
  round(values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.POSITIVE_INFINITY, 1);

/**
 * A thousand pages per process, each paid once while payments are created. The ratio compares the creations with the same without pages. The
 * times until pages hear of the payment and until the next page is loaded are in the notes, and have limits of their own.
 */
export const payer = ({ seconds, processes }: Options): Promise<Result> =>
  onStage({ processes, env: ONE_ADDRESS }, async (stage) => {
    const load = { senders: [stage.sender], pace: CREATIONS_PER_S };
    await stage.load({ ...warm(seconds), ...load });
    const alone = await stage.load({ label: "alone", seconds, ...load });
    const pages = await openPages(stage);
    try {
      const weight = await weigh(pages[0]?.url ?? "");
      const [run, seen] = await Promise.all([
        stage.load({ label: "run", seconds, ...load }),
        payAll(stage, pages, seconds),
      ]);
      return await result({ run, alone, seen, weight, pages, stage });
    } finally {
      for (const page of pages) page.close();
    }
  });

async function result(measured: {
  run: LoadReport;
  alone: LoadReport;
  seen: Seen;
  weight: number;
  pages: readonly Page[];
  stage: Stage;
}): Promise<Result> {
  const { run, alone, seen, weight, pages, stage } = measured;
  const memory = stage.memory();
  const verified = (await stage.verify()).clean;
  const wrong = Object.values(seen.wrong).reduce((sum, times) => sum + times, 0);
  const errors = run.errors + alone.errors + wrong;
  const ratio = rateOf(run) / rateOf(alone);
  const [heard, loaded] = [at(seen.heard, 0.99), at(seen.loaded, 0.99)];
  const withinLimits = heard <= HEARD_P99_MAX_MS && loaded <= PAGE_P99_MAX_MS && weight <= WEIGHT_MAX_BYTES;
  return {
    case: "payer",
    rate_per_s: round(rateOf(run)),
    baseline: "creations without open pages",
    baseline_per_s: round(rateOf(alone)),
    ratio: round(ratio, 2),
    aim: AIM,
    met: ratio >= AIM && withinLimits && sound({ ...run, errors }, { verified }),
    p50_ms: run.p50_ms,
    p99_ms: run.p99_ms,
    errors,
    ...(memory !== undefined && { memory_mib: memory }),
    verified,
    notes: {
      pages: pages.length,
      p99_ms_alone: alone.p99_ms,
      heard_p50_ms: at(seen.heard, 0.5),
      heard_p99_ms: heard,
      heard_slowest_ms: round(Math.max(...seen.heard), 1),
      page_p50_ms: at(seen.loaded, 0.5),
      page_p99_ms: loaded,
      page_bytes: weight,
      ...cpuOfAPage(run, alone, pages.length),
      streams_lost: pages.reduce((sum, { lost }) => sum + lost, 0),
      ...seen.wrong,
      ...run.reasons,
    },
  };
}
