// The load generator, run as its own process, over raw keep-alive sockets. Every request is signed, unique and made before the measured time
// begins; every answer is checked. Closed loop: each connection sends its next request when it has its answer. Open loop, with `pace`: each
// request has a due time, and the latency of a late request counts from its due time.
import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import { connect } from "node:net";
import { text } from "node:stream/consumers";

/** The kind of a request. */
type Kind = "create" | "refund" | "get" | "pay";

interface Plan {
  /** Ports over which the connections are spread in turn. */
  ports: number[];
  seconds: number;
  connections: number;
  label: string;
  kind: Kind;
  /** Senders, each chosen in proportion to its weight. */
  senders: { client_id: string; secret: string; weight: number; targets?: string[] }[];
  /** Requests per second; a closed loop when absent. */
  pace?: number;
  /** Addresses for the events of payments, in turn; "" means the registered address. */
  callbacks?: string[];
  /** Whether each created payment is paid in the next request. */
  lifecycle?: boolean;
}

interface Request {
  bytes: Buffer;
  sender: number;
  /** The request that pays the payment created by this one. It can be signed beforehand, since a signature does not cover the path. */
  payment?: Signed;
}

interface Signed {
  timestamp: string;
  signature: string;
  body: string;
}

/** Requests made beforehand per second of the run, AHEAD_MAX at most to bound memory. Further requests are made during the run. */
const AHEAD_PER_S = { once: 8_000, lifecycle: 3_000 };
const AHEAD_MAX = 80_000;

const {
  ports,
  seconds,
  connections,
  label,
  kind,
  senders,
  pace,
  callbacks,
  lifecycle = false,
} = JSON.parse(await text(process.stdin)) as Plan;
const keys = senders.map(({ secret }): KeyObject => createSecretKey(Buffer.from(secret)));
const run = `${label}-${Date.now().toString(36)}`;
const latencies: number[] = [];
const reasons = new Map<string, number>();
const unixSeconds = (): number => Math.floor(Date.now() / 1000);
const begunAt = unixSeconds();
let made = 0;
/** Answered requests; with `lifecycle`, payments that were created and paid. */
let done = 0;

const chooseSender = chooser(senders.map(({ weight }) => weight));

/** Makes a function that draws indices in proportion to weights, in the same sequence in every run. */
function chooser(weights: number[]): () => number {
  const sums: number[] = [];
  for (const weight of weights) sums.push((sums.at(-1) ?? 0) + weight);
  let state = 42;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const drawn = (state / 2 ** 32) * (sums.at(-1) ?? 1);
    let [low, high] = [0, sums.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] as number) > drawn) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}

function sign(sender: number, body: string, at = unixSeconds()): Signed {
  const timestamp = String(at);
  const hmac = createHmac("sha256", keys[sender] as KeyObject);
  return { timestamp, signature: hmac.update(timestamp).update(".").update(body).digest("hex"), body };
}

function write(
  sender: number,
  method: string,
  path: string,
  { timestamp, signature, body }: Signed,
  number: number,
): Buffer {
  const written =
    method === "GET"
      ? ""
      : `Idempotency-Key: ${run}-key-${number}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${senders[sender]?.client_id}\r\nX-Timestamp: ${timestamp}\r\nX-Signature: ${signature}\r\n${written}\r\n`;
  return Buffer.from(head + body);
}

function signed(
  sender: number,
  method: string,
  path: string,
  body: string,
  number: number,
  at = unixSeconds(),
): Request {
  return { bytes: write(sender, method, path, sign(sender, body, at), number), sender };
}

/** Signs the body that pays a payment. Bodies of one second must differ, so white space makes each unique. */
function signedPayment(sender: number, number: number): Signed {
  const mark = (number % 2 ** 16).toString(2).padStart(16, "0").replaceAll("0", " ").replaceAll("1", "\t");
  return sign(sender, `{"outcome":"succeeded"}${mark}`);
}

function make(): Request {
  const number = ++made;
  const sender = chooseSender();
  const targets = senders[sender]?.targets ?? [];
  const target = targets[number % targets.length];
  if (kind === "get") {
    // The same read with the same timestamp is a replay, so each round over the targets uses another second, from 250 seconds ago on.
    const round = Math.floor(number / targets.length);
    return signed(sender, "GET", `/v1/payments/${target}`, "", number, begunAt - 250 + (round % 500));
  }
  if (kind === "refund") {
    const body = `{"payment_reference":"${target}","amount_minor":1,"reason":"part ${number}"}`;
    return signed(sender, "POST", "/v1/refunds", body, number);
  }
  const callback = callbacks?.[number % callbacks.length] ?? "";
  const own = callback === "" ? "" : `,"callback_url":"${callback}"`;
  const body = `{"amount_minor":${100_000 + (number % 9_000) * 100},"currency":"IDR","payment_method":"qris","reference_id":"${run}-${number}","description":"Order ${number}","metadata":{"order":"${number}","channel":"web"}${own}}`;
  const request = signed(sender, "POST", "/v1/payments", body, number);
  return lifecycle ? { ...request, payment: signedPayment(sender, number) } : request;
}

const expected: Record<Kind, { status: string; contains: string }> = {
  create: { status: "HTTP/1.1 201", contains: '"qr_string"' },
  refund: { status: "HTTP/1.1 201", contains: '"status":"succeeded"' },
  get: { status: "HTTP/1.1 200", contains: '"status":"' },
  pay: { status: "HTTP/1.1 200", contains: '"status":"succeeded"' },
};

const aheadPerSecond = pace ?? AHEAD_PER_S[lifecycle ? "lifecycle" : "once"];
const wanted = Math.min(AHEAD_MAX, Math.ceil(seconds * aheadPerSecond));
const ahead: Request[] = Array.from({ length: kind === "get" ? Math.min(wanted, 20_000) : wanted }, make);
let next = 0;
/** Takes the next request. Reads are always made anew: the same read needs another timestamp to have another signature. */
const take = (): Request => (kind !== "get" && next < ahead.length ? (ahead[next++] as Request) : make());

// Waits a second, because a read with the same timestamp as one of an earlier run would be a replay.
if (kind === "get") await new Promise((resolve) => setTimeout(resolve, 1_000));

let claimed = 0;
process.stdout.write("begun\n");
const begun = performance.now();
const end = begun + seconds * 1000;

/** Drives one connection: sends a request, reads its whole answer and sends the next, until the time is over. */
function drive(_: unknown, index: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(ports[index % ports.length] as number, "127.0.0.1");
    let buffer = "";
    let started = 0;
    let current: { sender: number; kind: Kind; payment?: Signed | undefined } = { sender: 0, kind };
    let paying: string | undefined;
    const send = (due: number): void => {
      started = Math.min(due, performance.now());
      const { sender, payment } = current;
      if (paying !== undefined && payment) {
        current = { sender, kind: "pay" };
        socket.write(write(sender, "POST", `/v1/sandbox/payments/${paying}/simulate`, payment, ++made));
        return;
      }
      const request = take();
      current = { sender: request.sender, kind, payment: request.payment };
      socket.write(request.bytes);
    };
    const proceed = (): void => {
      const due = pace === undefined || paying !== undefined ? performance.now() : begun + (claimed++ * 1000) / pace;
      // A created payment is paid even after the end, because its events are counted.
      if (paying === undefined && Math.max(due, performance.now()) >= end) {
        socket.end();
        resolve();
        return;
      }
      const wait = due - performance.now();
      if (wait <= 0) send(due);
      else setTimeout(() => send(due), wait);
    };
    socket.setNoDelay(true);
    socket.setEncoding("latin1");
    socket.on("connect", proceed);
    socket.on("error", reject);
    socket.on("data", (part: string) => {
      buffer += part;
      const head = buffer.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(buffer.slice(0, head))?.[1] ?? Number.NaN);
      if (buffer.length < head + 4 + length) return;
      const { status, contains } = expected[current.kind];
      const good = buffer.startsWith(status) && buffer.includes(contains, head);
      if (!good) {
        const reason = /"code":"(\w+)"/.exec(buffer)?.[1] ?? buffer.slice(9, 12);
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      }
      const created = lifecycle && good && current.kind === "create";
      paying = created ? /"reference":"(pay_\w+)"/.exec(buffer)?.[1] : undefined;
      latencies.push(performance.now() - started);
      if (!created) done++;
      buffer = "";
      proceed();
    });
  });
}

await Promise.all(Array.from({ length: connections }, drive));
const elapsed = (performance.now() - begun) / 1000;
// Latencies are counted in hundredths of a millisecond, so that several runs can be combined.
const histogram = new Map<number, number>();
for (const latency of latencies) {
  const hundredths = Math.round(latency * 100);
  histogram.set(hundredths, (histogram.get(hundredths) ?? 0) + 1);
}
process.stdout.write(
  JSON.stringify({
    requests: done,
    errors: [...reasons.values()].reduce((sum, count) => sum + count, 0),
    reasons: Object.fromEntries(reasons),
    seconds: elapsed,
    histogram: [...histogram],
  }),
);
