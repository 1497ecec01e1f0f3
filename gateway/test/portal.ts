// People at the portal and the console: people who join by an invitation, and a browser that sends the requests of the pages.
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
  /** The cookies that the browser keeps, in the form of the header. */
  cookie: string | undefined;

  constructor(origin: string, merchantId: string, environment: Environment = "sandbox") {
    this.origin = origin;
    this.merchantId = merchantId;
    this.environment = environment;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send("GET", path, undefined, headers);
  }

  /** Sends a POST with a new idempotency key, unless the headers have one. */
  post(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send("POST", path, body, { "idempotency-key": randomUUID(), ...headers });
  }

  /** Sends a request. Given headers replace the browser's own; an empty one removes the header. */
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

/** The browser of a new person who joined a merchant by an invitation, which also signs the person in. */
export async function joins(
  service: Pick<TestService, "app" | "origin">,
  merchantId: string,
  role: MemberRole = "owner",
  environment: Environment = "sandbox",
): Promise<Browser> {
  const browser = new Browser(service.origin, merchantId, environment);
  browser.email = `person${++people}@people.example`;
  const { token } = await service.app.people.invitations.invite(merchantId, { role }, undefined);
  const answer = await browser.post("/portal/v1/invitations/accept", {
    token,
    email: browser.email,
    name: "Sari Dewi",
    password: PASSWORD,
  });
  if (answer.status !== 200) throw new Error(answer.text);
  return browser;
}

/** The browser of a new person who became an operator by an invitation of `by`, which also signs the person in to the console. */
export async function operates(
  service: Pick<TestService, "app" | "operatorOrigin">,
  role: OperatorRole = "admin",
  by = "command-line",
): Promise<Browser> {
  const browser = new Browser(service.operatorOrigin, "");
  browser.email = `operator${++people}@gateway.example`;
  const { token } = await service.app.consolePeople.operators.invite({ role }, by);
  const answer = await browser.post("/ops/v1/invitations/accept", {
    token,
    email: browser.email,
    name: "Budi Santoso",
    password: PASSWORD,
  });
  if (answer.status !== 200) throw new Error(answer.text);
  return browser;
}
