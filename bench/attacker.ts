// An attacker, run as its own process: at a steady pace it sends requests and never reads the answers, begins bodies that never end, replays a
// request, and guesses keys and signatures. It prints when it has begun. When its standard input ends, it stops and prints a report.
import { randomBytes } from "node:crypto";
import { type Socket, connect } from "node:net";
import { setPriority } from "node:os";

export interface AttackPlan {
  port: number;
  /** Addresses of this machine from which it connects, in turn. */
  addresses: readonly string[];
  /** A merchant's client_id, and the headers of one of that merchant's requests. */
  clientId: string;
  seen: Record<string, string>;
}

export interface AttackReport {
  /** Connections that never read, bodies that never ended, guesses and replays. */
  unread: number;
  bodies: number;
  guesses: number;
  replays: number;
}

/** Sockets that never read, open at the same time. */
const UNREAD_SOCKETS = 9;
const UNREAD_REQUESTS = 500;
/** 4,200 in ten seconds. */
const BODIES_PER_S = 420;
const GUESSES_PER_S = 100;
const REPLAYS_PER_S = 100;
const TICKS_PER_S = 20;

const { port, addresses, clientId, seen } = JSON.parse(process.argv[2] ?? "{}") as AttackPlan;
const report: AttackReport = { unread: 0, bodies: 0, guesses: 0, replays: 0 };
const sockets = new Set<Socket>();
let turn = 0;

/** Opens a connection that sends a text at once, and leaves its end to the service. */
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

/** Keeps a connection that never reads; opens the next one 100 ms after the service has cut it. */
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

/** Half of the guesses use an unknown key, half a wrong signature of a known key. */
function guess(talk: Talk): void {
  const known = report.guesses++ % 2 === 0;
  const client = known ? clientId : `ak_test_${randomBytes(12).toString("hex")}`;
  talk.say(head("GET /v1/balances", { Authorization: `Bearer ${client}`, ...wrong() }));
}

function replay(talk: Talk): void {
  report.replays++;
  talk.say(head("GET /v1/balances", seen));
}

/** A kept connection whose answers are read and dropped. */
class Talk {
  private socket: Socket | undefined;

  say(text: string): void {
    if (this.socket?.writable !== true) this.socket = open("").resume();
    this.socket.write(text);
  }
}

// Lowest priority: the attacker stands for other machines, so on a busy machine the service and the merchants come first.
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
