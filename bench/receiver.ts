// A receiver of webhooks in a process of its own: answers at once and remembers how late each event came; beside it hosts
// that take a connection and never answer. Its parent asks over IPC.
import { readFileSync } from "node:fs";
import { type Server, createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";

const { key, cert, blackHoles } = JSON.parse(readFileSync(0, "utf8")) as {
  key: string;
  cert: string;
  blackHoles: number;
};

let lags: number[] = [];
let seen = new Set<string>();
let repeated = 0;
let perSecond = new Map<number, number>();
const sockets = new Set<Socket>();

/** The moment, in milliseconds, that an event's identity begins with. */
function momentOf(eventId: string): number {
  const digits = "0123456789abcdefghjkmnpqrstvwxyz";
  let number = 0n;
  for (const character of eventId.slice("evt_".length)) number = number * 32n + BigInt(digits.indexOf(character));
  const microseconds = Number((((number >> 64n) & 0xfffn) * 1000n) / 4096n);
  return Number(number >> 80n) + microseconds / 1000;
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

const receiver = createServer({ key, cert }, (request, response) => {
  request.resume();
  request.on("end", () => {
    const now = performance.timeOrigin + performance.now();
    const eventId = String(request.headers["x-svc-event-id"]);
    if (seen.has(eventId)) repeated++;
    seen.add(eventId);
    lags.push(now - momentOf(eventId));
    const second = Math.floor(now / 1000);
    perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
    response.end("ok");
  });
});
receiver.on("secureConnection", (socket: Socket) => {
  sockets.add(socket);
  socket.on("close", () => sockets.delete(socket));
});
const port = await listen(receiver);
const holes: number[] = [];
for (let hole = 0; hole < blackHoles; hole++) {
  holes.push(await listen(createServer({ key, cert }, (request) => void request.resume())));
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
