// The load generator over raw keep-alive sockets: every request signed and unique, every answer checked. Closed loop; or, with
// `pace`, open loop: requests have their times, and one that is sent late counts its latency from the time it was due.
import { createHmac, createSecretKey } from "node:crypto";
import { connect, type Socket } from "node:net";

const { demo, port, seconds, connections, label, references, pace, callbacks } = JSON.parse(
  process.env.LOAD ?? "{}",
) as {
  demo: { client_id: string; secret: string };
  port: number;
  seconds: number;
  connections: number;
  label: string;
  /** Payments to refund, a little each time; without them payments are created. */
  references?: string[];
  /** Requests a second. */
  pace?: number;
  /** Addresses for the events of payments, in turn; an empty one leaves them to the registered address. */
  callbacks?: string[];
};

const key = createSecretKey(Buffer.from(demo.secret));
const run = `${label}-${Date.now().toString(36)}`;
const latencies: number[] = [];
let sent = 0;
let errors = 0;
const begun = performance.now();
const end = begun + seconds * 1000;

function nextRequest(): string {
  const number = ++sent;
  const callback = callbacks?.[number % callbacks.length] ?? "";
  const own = callback === "" ? "" : `,"callback_url":"${callback}"`;
  const body = references
    ? `{"payment_reference":"${references[number % references.length]}","amount_minor":1,"reason":"part ${number}"}`
    : `{"amount_minor":${100_000 + (number % 900_000)},"currency":"IDR","payment_method":"qris","reference_id":"${run}-${number}","description":"Order ${number}","metadata":{"order":"${number}","channel":"web"}${own}}`;
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", key).update(timestamp).update(".").update(body).digest("hex");
  return (
    `POST /v1/${references ? "refunds" : "payments"} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${demo.client_id}\r\n` +
    `X-Timestamp: ${timestamp}\r\nX-Signature: ${signature}\r\nIdempotency-Key: ${run}-key-${number}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

let claimed = 0;

function setTimeoutOrNow(ms: number, work: () => void): void {
  if (ms <= 0) work();
  else setTimeout(work, ms);
}

/** One connection: a request, its whole answer, the next request, until the time is over. */
function drive(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(port, "127.0.0.1");
    let buffer = "";
    let started = 0;
    const next = (): void => {
      const due = pace === undefined ? performance.now() : begun + (claimed++ * 1000) / pace;
      if (Math.max(due, performance.now()) >= end) {
        socket.end();
        resolve();
        return;
      }
      setTimeoutOrNow(due - performance.now(), () => {
        started = Math.min(due, performance.now());
        socket.write(nextRequest());
      });
    };
    socket.setNoDelay(true);
    socket.setEncoding("latin1");
    socket.on("connect", next);
    socket.on("error", reject);
    socket.on("data", (part: string) => {
      buffer += part;
      const head = buffer.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(buffer.slice(0, head))?.[1] ?? Number.NaN);
      if (buffer.length < head + 4 + length) return;
      latencies.push(performance.now() - started);
      const body = buffer.slice(head + 4);
      if (
        !buffer.startsWith("HTTP/1.1 201") ||
        !(references ? body.includes('"status":"succeeded"') : body.includes('"qr_string"'))
      )
        errors++;
      buffer = "";
      next();
    });
  });
}

await Promise.all(Array.from({ length: connections }, drive));
const elapsed = (performance.now() - begun) / 1000;
latencies.sort((a, b) => a - b);
const at = (share: number): number => Math.round((latencies[Math.floor(latencies.length * share)] ?? 0) * 10) / 10;
process.stdout.write(
  JSON.stringify({ requests: latencies.length, errors, seconds: elapsed, p50_ms: at(0.5), p99_ms: at(0.99) }),
);
