// Rules, hashes and comparison of passwords. Only argon2id hashes are stored, never a password.
import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { Fault } from "../ground/fault.ts";
import type { Surface } from "./sessions.sql.ts";

const derive = promisify(argon2);

const PASSWORD_MIN = 12;
const PASSWORD_MAX = 200;

/** Of one hash; `memory` in KiB. */
export interface PasswordCost {
  memory: number;
  passes: number;
  parallelism: number;
}

/** 19 MiB and two passes, some 30 ms of a core: expensive for offline guessing, cheap enough for a sign-in. */
const COST: PasswordCost = { memory: 19_456, passes: 2, parallelism: 1 };
const TAG_BYTES = 32;
const SALT_BYTES = 16;

/** Hashes of one surface computed at the same time: each takes 19 MiB and a thread of the pool that other work needs too. */
const AT_ONCE_MAX = { portal: 2, console: 1 };
/** Hashes that wait for their turn, one or two seconds at most. Further ones are rejected. */
const WAITING_MAX = 64;
/** Strangers may guess at the portal. However many do, operators are let into the console. */
const queues = {
  portal: { running: 0, waiting: [] as (() => void)[] },
  console: { running: 0, waiting: [] as (() => void)[] },
};

/** Runs work when fewer than AT_ONCE_MAX hashes are being computed. Throws SERVICE_UNAVAILABLE when WAITING_MAX wait already. */
async function oneOfFew<T>(surface: Surface, work: () => Promise<T>): Promise<T> {
  const queue = queues[surface];
  if (queue.running >= AT_ONCE_MAX[surface]) {
    if (queue.waiting.length >= WAITING_MAX)
      throw new Fault("SERVICE_UNAVAILABLE", { retryAfterSeconds: 2, internal: "too many passwords to compare" });
    await new Promise<void>((resolve) => queue.waiting.push(resolve));
  } else queue.running++;
  try {
    return await work();
  } finally {
    const next = queue.waiting.shift();
    if (next) next();
    else queue.running--;
  }
}

function tagOf(surface: Surface, password: string, nonce: Buffer, cost: PasswordCost): Promise<Buffer> {
  const message = Buffer.from(password.normalize("NFKC"));
  return oneOfFew(surface, () => derive("argon2id", { message, nonce, tagLength: TAG_BYTES, ...cost }));
}

/** The stored form of a password: argon2id tag with cost and salt, in the PHC string format. Tests that make many people give a lower cost. */
export async function hashPassword(surface: Surface, password: string, cost = COST): Promise<string> {
  const nonce = randomBytes(SALT_BYTES);
  const tag = await tagOf(surface, password, nonce, cost);
  const base64 = (bytes: Buffer): string => bytes.toString("base64").replaceAll("=", "");
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(nonce)}$${base64(tag)}`;
}

const FORM = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d)\$([A-Za-z0-9+/]{1,64})\$([A-Za-z0-9+/]{1,128})$/;

/**
 * True when `kept` is the stored form of `password`. Without `kept` (unknown e-mail address, or a person without a password) the answer is false after
 * the same time, so that the time does not tell which addresses exist.
 */
export async function isPassword(surface: Surface, password: string, kept: string | undefined): Promise<boolean> {
  const [, memory = "", passes = "", parallelism = "", salt = "", tag = ""] = FORM.exec(kept ?? "") ?? [];
  const known = tag !== "";
  const cost = known ? { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) } : COST;
  const computed = await tagOf(surface, password, known ? Buffer.from(salt, "base64") : Buffer.alloc(SALT_BYTES), cost);
  const expected = known ? Buffer.from(tag, "base64") : Buffer.alloc(TAG_BYTES);
  return known && expected.length === computed.length && timingSafeEqual(expected, computed);
}

let common: ReadonlySet<string> | undefined;

/** Common passwords in lower case. Loaded when the first password is set: a process that serves no persons does without them. */
async function commonPasswords(): Promise<ReadonlySet<string>> {
  if (common) return common;
  const { dictionary } = await import("@zxcvbn-ts/language-common");
  common = new Set(dictionary["passwords-common"].filter((password) => password.length >= PASSWORD_MIN / 2));
  return common;
}

/** Why a new password is refused, for its person; undefined when it is accepted. `about`: what others know of the person, such as the name. */
export async function objectionToPassword(password: string, about: readonly string[]): Promise<string | undefined> {
  const characters = [...password];
  if (characters.length < PASSWORD_MIN) return `Choose a longer one: at least ${PASSWORD_MIN} characters.`;
  if (characters.length > PASSWORD_MAX) return `Choose a shorter one: at most ${PASSWORD_MAX} characters.`;
  if (!password.isWellFormed() || password.includes("\0")) return "Use text without control characters.";
  const small = password.toLowerCase();
  if (new Set(characters).size < 5) return "Choose one with more different characters.";
  if (about.some((text) => text.length >= 4 && small.includes(text.toLowerCase())))
    return "Choose one that has nothing of your name, your e-mail address or your business.";
  const all = await commonPasswords();
  if (
    all.has(small) ||
    all.has(repeatedPart(small)) ||
    all.has(small.replace(/[^a-z]+$/, "")) ||
    all.has(small.replace(/\d+$/, ""))
  )
    return "This one is among the first that are tried. Three words that do not belong together are better.";
  return undefined;
}

/** The shortest part whose repetition makes up the text; the text itself when there is none. */
function repeatedPart(text: string): string {
  return text.slice(0, (text + text).indexOf(text, 1));
}

/** Throws VALIDATION_ERROR with the objection to a password, if any. `about`: see `objectionToPassword`; its words are tried separately too. */
export async function refuseBadPassword(field: string, password: string, about: readonly string[]): Promise<void> {
  const parts = about.flatMap((text) => [text, ...text.split(/[@.\s]+/)]);
  const objection = await objectionToPassword(password, parts);
  // The details leave the value out: the person may use the same password elsewhere.
  if (objection !== undefined)
    throw new Fault("VALIDATION_ERROR", { message: objection, details: { field, value: null } });
}
