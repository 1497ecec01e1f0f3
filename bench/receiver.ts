// A receiver of webhooks, run as its own process: answers at once and records how late each event came. It also has hosts that accept
// connections and never answer. Its parent asks for figures over IPC. It reads only the HTTP it needs, since it shares the machine with the
// service that it measures.
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { type TLSSocket, createServer } from "node:tls";

const { key, cert, blackHoles } = JSON.parse(readFileSync(0, "utf8")) as {
  key: string;
  cert: string;
  blackHoles: number;
};

let lags: number[] = [];
let seen = new Set<string>();
let repeated = 0;
let perSecond = new Map<number, number>();
const sockets = new Set<TLSSocket>();

const ANSWER = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok";
const NOT_UNDERSTOOD = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";

/** The time, in milliseconds, at the start of an event's identity: 48 bits, and after four other bits 12 bits of a fraction. */
function momentOf(eventId: string): number {
  const number = (from: number, to: number): number => {
    let value = 0;
    for (let at = from; at < to; at++) value = value * 32 + DIGITS.indexOf(eventId.charAt("evt_".length + at));
    return value;
  };
  return number(0, 10) + ((number(10, 14) >> 4) & 0xfff) / 4096;
}

function receive(eventId: string): void {
  const now = performance.timeOrigin + performance.now();
  if (seen.has(eventId)) repeated++;
  seen.add(eventId);
  lags.push(now - momentOf(eventId));
  const second = Math.floor(now / 1000);
  perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
}

/** Answers each request once it is complete. */
function serve(socket: TLSSocket): void {
  let buffer = "";
  sockets.add(socket);
  socket.on("close", () => sockets.delete(socket));
  socket.on("error", () => socket.destroy());
  socket.setEncoding("latin1");
  socket.on("data", (part: string) => {
    buffer += part;
    for (let head = buffer.indexOf("\r\n\r\n"); head >= 0; head = buffer.indexOf("\r\n\r\n")) {
      const headers = buffer.slice(0, head);
      const length = /\r\ncontent-length: (\d+)/i.exec(headers)?.[1];
      const eventId = /\r\nx-svc-event-id: (evt_\w+)/i.exec(headers)?.[1];
      if (length === undefined || eventId === undefined) {
        socket.end(NOT_UNDERSTOOD);
        return;
      }
      const end = head + 4 + Number(length);
      if (buffer.length < end) return;
      buffer = buffer.slice(end);
      receive(eventId);
      socket.write(ANSWER);
    }
  });
}

async function listen(onConnection: (socket: TLSSocket) => void): Promise<number> {
  const server = createServer({ key, cert }, onConnection);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

const port = await listen(serve);
const holes: number[] = [];
for (let hole = 0; hole < blackHoles; hole++) {
  holes.push(await listen((socket) => socket.on("error", () => socket.destroy()).resume()));
}

process.on("message", (question: "reset" | "stats") => {
  if (question === "reset") {
    [lags, seen, repeated, perSecond] = [[], new Set(), 0, new Map()];
    return;
  }
  const sorted = lags.toSorted((a, b) => a - b);
  const at = (share: number): number => Math.round((sorted[Math.floor(sorted.length * share)] ?? 0) * 10) / 10;
  process.send?.({
    events: seen.size,
    repeated,
    p50_ms: at(0.5),
    p99_ms: at(0.99),
    sockets: sockets.size,
    perSecond: [...perSecond].sort(([a], [b]) => a - b).map(([, count]) => count),
  });
});
process.on("disconnect", () => process.exit(0));
process.send?.({ port, holes });
