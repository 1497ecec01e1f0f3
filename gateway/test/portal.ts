// People at the portal as tests play them: who joins a merchant, and a browser as far as its requests go.
import { randomUUID } from "node:crypto";
import { type Answer, readAnswer } from "../../e2e/kit/client.ts";
import type { Environment } from "../src/merchants/books.ts";
import type { OperatorRole } from "../src/people/operator-roles.ts";
import type { MemberRole } from "../src/people/roles.ts";
import type { TestService } from "./kit.ts";

export const PASSWORD = "kopi tubruk senja 7";
let people = 0;

/** A browser that shows a page of a merchant, signed in or not. */
export class Browser {
  readonly origin: string;
  merchantId: string;
  environment: Environment;
  email = "";
  /** The cookies it keeps, as it sends them. */
  cookie: string | undefined;

  constructor(origin: string, merchantId: string, environment: Environment = "sandbox") {
    this.origin = origin;
    this.merchantId = merchantId;
    this.environment = environment;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send("GET", path, undefined, headers);
  }

  /** A change, under an idempotency key of its own unless one is given. */
  post(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send("POST", path, body, { "idempotency-key": randomUUID(), ...headers });
  }

  /** Headers that are given take the place of a browser's own; an empty one is left out. */
  async send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const all: Record<string, string> = {
      "x-merchant-id": this.merchantId,
      "x-environment": this.environment,
      ...(this.cookie === undefined ? {} : { cookie: this.cookie }),
      ...(method === "GET" ? {} : { "sec-fetch-site": "same-origin", origin: this.origin }),
      ...(body === undefined || Buffer.isBuffer(body) ? {} : { "content-type": "application/json" }),
      ...headers,
    };
    const answer = await readAnswer(
      await fetch(this.origin + path, {
        method,
        headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== "")),
        ...(body === undefined ? {} : { body: Buffer.isBuffer(body) ? (body as never) : JSON.stringify(body) }),
      }),
    );
    for (const set of answer.headers.getSetCookie()) {
      const [pair = ""] = set.split(";");
      this.cookie = pair.endsWith("=") ? undefined : pair;
    }
    return answer;
  }
}

/** Somebody who joins a merchant by an invitation, and is signed in by that. */
export async function joins(
  service: Pick<TestService, "app" | "origin">,
  merchantId: string,
  role: MemberRole = "owner",
  environment: Environment = "sandbox",
): Promise<Browser> {
  const browser = new Browser(service.origin, merchantId, environment);
  browser.email = `person${++people}@people.example`;
  const { token } = await service.app.people.invite(merchantId, { role }, undefined);
  const answer = await browser.post("/portal/v1/invitations/accept", {
    token,
    email: browser.email,
    name: "Sari Dewi",
    password: PASSWORD,
  });
  if (answer.status !== 200) throw new Error(answer.text);
  return browser;
}

/** Somebody who becomes an operator by an invitation, and is signed in to the console by that. */
export async function operates(
  service: Pick<TestService, "app" | "operatorOrigin">,
  role: OperatorRole = "admin",
): Promise<Browser> {
  const browser = new Browser(service.operatorOrigin, "");
  browser.email = `operator${++people}@gateway.example`;
  const { token } = await service.app.consolePeople.operators.invite({ role }, "command-line");
  const answer = await browser.post("/ops/v1/invitations/accept", {
    token,
    email: browser.email,
    name: "Budi Santoso",
    password: PASSWORD,
  });
  if (answer.status !== 200) throw new Error(answer.text);
  return browser;
}
