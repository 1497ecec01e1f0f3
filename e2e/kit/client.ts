// A merchant's system for tests, the demo and the benchmark: signs requests and reads answers.
import { createHmac, hash, randomUUID } from "node:crypto";

export interface Credentials {
  base_url: string;
  client_id: string;
  secret: string;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  json: any;
}

interface CallOptions {
  key?: string | null;
  headers?: Record<string, string>;
  /** Seconds added to the timestamp. */
  skew?: number;
}

/** Timestamps of a process vary by so many seconds, so that equal bodies do not give equal signatures. */
const SPREAD = 200;
let spread = 0;
/** What this process has signed lately: after some seconds the spread may come back to a timestamp that an equal body has had. */
const signed = new Set<string>();

export class Client {
  readonly credentials: Credentials;

  constructor(credentials: Credentials) {
    this.credentials = credentials;
  }

  get origin(): string {
    return new URL(this.credentials.base_url).origin;
  }

  sign(timestamp: string, body: string | Buffer): string {
    return createHmac("sha256", this.credentials.secret).update(timestamp).update(".").update(body).digest("hex");
  }

  /** The authentication headers of a request made now. */
  headers(body: string | Buffer, skew = 0): Record<string, string> {
    const now = Math.floor(Date.now() / 1000) + skew;
    const timestamp = String(skew === 0 ? this.unused(now, body) : now);
    return {
      authorization: `Bearer ${this.credentials.client_id}`,
      "x-timestamp": timestamp,
      "x-signature": this.sign(timestamp, body),
    };
  }

  /** A timestamp around `now` with which this body was not signed lately; the next one where all were. */
  private unused(now: number, body: string | Buffer): number {
    if (signed.size > 100_000) signed.clear();
    const what = `${this.credentials.client_id} ${hash("sha1", body)}`;
    let timestamp = now;
    for (let tries = 0; tries < SPREAD; tries++) {
      spread = (spread + 1) % SPREAD;
      timestamp = now + spread - SPREAD / 2;
      if (!signed.has(`${what} ${timestamp}`)) break;
    }
    signed.add(`${what} ${timestamp}`);
    return timestamp;
  }

  /** `path` begins with /v1. */
  async get(path: string, options: CallOptions = {}): Promise<Answer> {
    return this.send("GET", path, undefined, { ...this.headers("", options.skew), ...options.headers });
  }

  async post(path: string, value: unknown, options: CallOptions = {}): Promise<Answer> {
    const body = typeof value === "string" || Buffer.isBuffer(value) ? value : JSON.stringify(value);
    const key = options.key === undefined ? randomUUID() : options.key;
    return this.send("POST", path, body, {
      ...this.headers(body, options.skew),
      "content-type": "application/json",
      ...(key === null ? {} : { "idempotency-key": key }),
      ...options.headers,
    });
  }

  async send(
    method: string,
    path: string,
    body: string | Buffer | undefined,
    headers: Record<string, string>,
  ): Promise<Answer> {
    const response = await fetch(this.origin + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: body as never }),
    });
    return readAnswer(response);
  }
}

export async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined; // an HTML page, not an answer of the API
  }
  return { status: response.status, headers: response.headers, text, json };
}

export interface Operator {
  ops_url: string;
  operator_token: string;
}

/** Calls the operator API; throws on anything but success. */
export async function operate(
  operator: Operator,
  method: string,
  path: string,
  value?: unknown,
): Promise<Answer["json"]> {
  const response = await fetch(operator.ops_url + path, {
    method,
    headers: { authorization: `Bearer ${operator.operator_token}`, "content-type": "application/json" },
    ...(value === undefined ? {} : { body: JSON.stringify(value) }),
  });
  const answer = await readAnswer(response);
  if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
  return answer.json;
}

/**
 * Settings of a merchant from whose money no batch is formed unless a test asks for one. By the usual schedule a batch takes what a test is about
 * to refund or to read, whenever Jakarta's midnight falls into the test.
 */
export const settledLate = { settlement: { delay_days: 30 } };
