// Whoever wants the service's room, as a process of its own: asks and never reads, begins bodies that never come, sends again what was sent before, and
// guesses keys and signatures, at a steady pace. It says when it has begun; when its standard input ends it stops, and says what it did.
import { randomBytes } from "node:crypto";
import { type Socket, connect } from "node:net";
import { setPriority } from "node:os";

export interface AttackPlan {
  port: number;
  /** Addresses of this machine from which it comes, in turn. */
  addresses: readonly string[];
  /** Somebody's key, and the headers of one request of theirs. */
  clientId: string;
  seen: Record<string, string>;
}

export interface AttackReport {
  /** Connections that never read, bodies that never came, guesses and replays. */
  unread: number;
  bodies: number;
  guesses: number;
  replays: number;
}

/** At the same time. */
const UNREAD_SOCKETS = 9;
const UNREAD_REQUESTS = 500;
/** In ten seconds 4,200. */
const BODIES_PER_S = 420;
const GUESSES_PER_S = 100;
const REPLAYS_PER_S = 100;
const TICKS_PER_S = 20;

const { port, addresses, clientId, seen } = JSON.parse(process.argv[2] ?? "{}") as AttackPlan;
const report: AttackReport = { unread: 0, bodies: 0, guesses: 0, replays: 0 };
const sockets = new Set<Socket>();
let turn = 0;

/** A connection that sends something at once, and ends the way the service ends it. */
function open(text: string, onClose: () => void = () => undefined): Socket {
  const localAddress = addresses[turn++ % addresses.length];
  const socket = connect({ port, host: "127.0.0.1", ...(localAddress === undefined ? {} : { localAddress }) });
  sockets.add(socket);
  socket.on("error", () => socket.destroy());
  socket.on("close", () => {
    sockets.delete(socket);
    onClose();
  });
  socket.write(text);
  return socket;
}

const head = (line: string, headers: Record<string, string>): string =>
  `${line} HTTP/1.1\r\nHost: x\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`;

/** Opens the next one as soon as it is cut. */
function askAndNeverRead(): void {
  report.unread++;
  open(head("GET /openapi.json", {}).repeat(UNREAD_REQUESTS), () => setTimeout(askAndNeverRead, 100)).pause();
}

function beginBody(): void {
  report.bodies++;
  open(`${head("POST /v1/payments", { Authorization: `Bearer ${clientId}`, "Content-Length": "100" })}{`).pause();
}

const wrong = (): Record<string, string> => ({
  "X-Timestamp": String(Math.floor(Date.now() / 1000)),
  "X-Signature": randomBytes(32).toString("hex"),
});

/** Half of them guess a key, half a known key's signature. */
function guess(talk: Talk): void {
  const known = report.guesses++ % 2 === 0;
  const client = known ? clientId : `ak_test_${randomBytes(12).toString("hex")}`;
  talk.say(head("GET /v1/balances", { Authorization: `Bearer ${client}`, ...wrong() }));
}

function replay(talk: Talk): void {
  report.replays++;
  talk.say(head("GET /v1/balances", seen));
}

/** A kept connection whose answers are read and thrown away. */
class Talk {
  private socket: Socket | undefined;

  say(text: string): void {
    if (this.socket?.writable !== true) this.socket = open("").resume();
    this.socket.write(text);
  }
}

// It stands for other machines: where this one is busy, the service and the merchants come first.
setPriority(19);
for (let n = 0; n < UNREAD_SOCKETS; n++) askAndNeverRead();
const talks = addresses.map(() => new Talk());
let ticks = 0;
setInterval(() => {
  const talk = talks[ticks++ % talks.length] as Talk;
  for (let n = 0; n < BODIES_PER_S / TICKS_PER_S; n++) beginBody();
  for (let n = 0; n < GUESSES_PER_S / TICKS_PER_S; n++) guess(talk);
  for (let n = 0; n < REPLAYS_PER_S / TICKS_PER_S; n++) replay(talk);
}, 1000 / TICKS_PER_S);
process.stdout.write("begun\n");
process.stdin.resume().once("end", () => {
  process.stdout.write(JSON.stringify(report), () => process.exit(0));
});
