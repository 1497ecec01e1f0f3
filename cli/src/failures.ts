// Explains failures in words for people: the API's errors with advice, answers in an unknown form, and what the machine refuses.
import { GerbangError } from "../../sdk/src/errors.ts";
import { UnexpectedAnswer, lastAddressFile, lastAnswer } from "./answers.ts";
import { reasonOf } from "./listener/reasons.ts";
import { type Printable, joined, words } from "./output/text.ts";

const PROBLEM_MAX = 200; // characters
const DETAILS_MAX = 10;

/** A problem that the user of the command can put right, in a sentence. */
export class Trouble extends Error {
  override name = "Trouble";
}

/** Ctrl-C ended a wait; the message says what that leaves. */
export class Interrupted extends Trouble {}

/** Whether Ctrl-C ended the command: a call under way, or its wait for somebody. */
export function isInterrupt(error: unknown): boolean {
  return error instanceof Interrupted || (error instanceof GerbangError && error.code === "ABORTED");
}

/** The sentence for an error that is not a fault of the program; undefined for every other error, whose stack is needed. */
export function explain(error: unknown): string | undefined {
  return sentenceOf(error)?.toString();
}

function sentenceOf(error: unknown): Printable | undefined {
  if (error instanceof Trouble) return words`${error.message}`;
  if (error instanceof GerbangError) return ofApi(error);
  if (!(error instanceof Error)) return undefined;
  const { code, path, syscall } = error as NodeJS.ErrnoException;
  if (path !== undefined && code !== undefined && /^(EACCES|EPERM|EROFS|ENOTDIR|EEXIST)$/.test(code))
    return words`${path} cannot be used (${code}). Set XDG_CONFIG_HOME to use another folder.`;
  if (path !== undefined && code === "ENOSPC") return words`${path} cannot be written: the disk is full.`;
  if (syscall !== undefined) return undefined;
  // Once the service has answered, its answer is what a command fails at.
  const answer = lastAnswer();
  return answer === undefined && !(error instanceof UnexpectedAnswer)
    ? undefined
    : ofUnexpected(error.message, answer?.requestId);
}

/** The sentence about an answer in another form than this version knows, and its request. */
export function ofUnexpected(problem: string, requestId: string | undefined): Printable {
  const sentence = words`The service answered in a form that this version does not know: ${problem.slice(0, PROBLEM_MAX)}`;
  return requestId === undefined ? sentence : words`${sentence}\nRequest: ${requestId}`;
}

function ofApi(error: GerbangError): Printable {
  const { code, message, requestId, cause, idempotencyKey, details } = error;
  const field = details?.field;
  // In brackets the client says the system's own words, which people need not read: the reason is in theirs.
  const why = cause === undefined ? "" : reasonOf(cause);
  const told = why === "" ? message : message.replace(/ \([^]*\)\.$/, () => `: ${why}${why.endsWith("?") ? "" : "."}`);
  // The limits of a list in time have a name for each list in the API, and two names here.
  const said = told.replace(/^(?:created|opened|posted|date)_(from|to)\b/, "--$1");
  const lines = [
    words`${code}: ${said}`,
    ...(typeof field === "string" && !message.includes(field) ? [words`Field: ${field}`] : []),
    ...detailsOf(details, message),
    adviceOf(error),
    ...(idempotencyKey !== undefined && goesOn(error)
      ? [words`To run the same again safely: --idempotency-key ${idempotencyKey}`]
      : []),
    ...(typeof requestId === "string" ? [words`Request: ${requestId}`] : []),
  ];
  return joined(lines, "\n");
}

/** Whether the same command with the same key goes on with what may have begun. A payment that no acquirer took exists already. */
function goesOn({ code, outcomeUnknown, retryable, attempts }: GerbangError): boolean {
  return outcomeUnknown || retryable || (code === "ABORTED" && attempts > 0);
}

/** What to do. The client's own advice is for programs: it may name a call of theirs, or a header that a command does not show. */
function adviceOf(error: GerbangError): Printable {
  const { code, message, requestId, advice, idempotencyKey } = error;
  const addressFile = lastAddressFile();
  if (code === "CONNECTION_FAILED" && addressFile !== undefined)
    return words`${addressFile} has this address from the last start of a service there. Start it with npm start; if it runs at another address, set GERBANG_BASE_URL.`;
  if (code === "CONNECTION_FAILED" || code === "ROUTE_NOT_FOUND")
    return words`Check the service's address, in GERBANG_BASE_URL or gerbang profiles list, and this machine's network.`;
  if (code === "ABORTED" && idempotencyKey !== undefined && goesOn(error))
    return words`What was sent may have been done: look it up.`;
  if (/^No (webhook )?address is registered /.test(message))
    return words`gerbang open shows the portal, where Developers, Webhooks takes an address. A program on this machine needs none: gerbang listen forwards what really happens, such as gerbang payments simulate.`;
  if (message.includes(" was refused for its signature "))
    return words`gerbang logs tail shows what any other request was answered, and the portal its body: gerbang open.`;
  if (message.startsWith("No such "))
    return words`Check the id, and whether the key is of the merchant and the environment that it belongs to.`;
  if (code === "ENVIRONMENT_MISMATCH")
    return words`gerbang profiles list shows your keys with their environments, and --profile NAME chooses one.`;
  if (code === "CLIENT_NOT_FOUND")
    return words`If it is a profile's key, get a new one with gerbang login --profile NAME; for production also with --production.`;
  if (code === "STATE_NOT_REACHED")
    return message.endsWith(" in time.")
      ? words`To wait longer: --timeout SECONDS.`
      : words`It can no longer get there: waiting longer changes nothing.`;
  if (code === "RATE_LIMITED") return words`A key has a quota of requests a minute. Wait a minute, then try again.`;
  return code === "SIGNATURE_INVALID" && requestId !== undefined
    ? words`Check the secret, and that you call the service's public address, its BASE_URL: the address is signed, too. In the sandbox, gerbang doctor ${requestId} with another key shows what differs.`
    : words`${advice}`;
}

/**
 * The details that the message refers to and does not say itself, a line each. In "paid or returned already; read its status first" the value of the
 * status is a word by chance.
 */
function detailsOf(details: Readonly<Record<string, unknown>> = {}, message: string): Printable[] {
  return Object.entries(details)
    .filter(([name, value]) => !/^(field|value)$/.test(name) && /^(string|number)$/.test(typeof value))
    .filter(([name, value]) => !message.includes(String(value)) || message.includes(`its ${name}`))
    .slice(0, DETAILS_MAX)
    .map(([name, value]) => words`${name.slice(0, PROBLEM_MAX)}: ${String(value).slice(0, PROBLEM_MAX)}`);
}
