// Routes of the simulated acquirer: those of the protocol, which are signed, and those of the control surface, which are not.
import type { IncomingMessage } from "node:http";
import type { z } from "zod";
import { checkSignature, paymentOrderSchema, refundOrderSchema } from "../../acquirers/remote-protocol.ts";
import { Fault, validationFault } from "../../ground/fault.ts";
import { inPlainWords } from "../../ground/plain-words.ts";
import { parseObject } from "../../ground/json.ts";
import { behaviourSchema, paySchema, concludeSchema } from "./controls.ts";
import type { Desk } from "./desk.ts";
import { rowOf } from "./operation.ts";
import { type Reply, failure } from "./operations.ts";

const LIST_MAX = 100;
type Route<Result> = [method: string, path: RegExp, handle: (desk: Desk, key: string, body: Buffer) => Result];

/** A route at a path, in which `{key}` stands for an operation key. */
const route = <Result>(method: string, path: string, handle: Route<Result>[2]): Route<Result> => [
  method,
  new RegExp(`^${path.replace("{key}", "([a-z0-9.]{1,64})")}$`),
  handle,
];

const controls: Route<Reply>[] = [
  route("GET", "/operations", ({ operations }) => ({
    status: 200,
    body: { data: operations.newest(LIST_MAX).map(rowOf) },
  })),
  route("GET", "/behaviour", ({ behaviour }) => ({ status: 200, body: behaviour.view() })),
  route("PUT", "/behaviour", ({ behaviour }, _key, body) => {
    behaviour.change(parse(behaviourSchema, body));
    return { status: 200, body: behaviour.view() };
  }),
  route("POST", "/payments/{key}/pay", (desk, key, body) => desk.pay(key, parse(paySchema, body))),
  route("POST", "/refunds/{key}/settle", (desk, key, body) => desk.conclude(key, parse(concludeSchema, body))),
];

/** A request of the protocol: how to carry it out, and how to refuse it for good. */
interface Call {
  work(): Reply;
  refuse(): Reply;
}

const TOLD = "Refused, as this simulator was told.";
const refused = (): Reply => failure(422, "refused", TOLD, true);

const calls: Route<Call>[] = [
  route("POST", "/payments", ({ operations }, _key, body) => {
    const order = parse(paymentOrderSchema, body);
    return {
      work: () => operations.openPayment(order),
      refuse: () => operations.refuse("payment", order.operation_key, "refused", TOLD),
    };
  }),
  route("POST", "/refunds", (desk, _key, body) => {
    const order = parse(refundOrderSchema, body);
    const { operations, behaviour } = desk;
    return {
      work() {
        const reply = operations.openRefund(order, behaviour.refunds);
        desk.concludeSoon(operations.get("refund", order.operation_key));
        return reply;
      },
      refuse: () => operations.refuse("refund", order.operation_key, "refused", TOLD),
    };
  }),
  route("POST", "/payments/{key}/cancel", ({ operations }, key) => ({
    work: () => operations.cancel(key),
    refuse: refused,
  })),
  ...(["payment", "refund"] as const).flatMap((kind): Route<Call>[] => [
    route("GET", `/${kind}s/{key}`, ({ operations }, key) => ({
      work: () => operations.find(kind, key),
      refuse: refused,
    })),
    route("POST", `/${kind}s/{key}/void`, ({ operations }, key) => ({
      work: () => operations.void(kind, key),
      refuse: refused,
    })),
  ]),
];

/** The response of the control surface; undefined when the request is not for it. Throws a `Fault` for a bad request. */
export function control(desk: Desk, request: IncomingMessage, body: Buffer): Reply | undefined {
  const found = find(controls, request);
  if (!found) return undefined;
  // A web page must not reach the control surface through a browser on this machine; browsers send Origin.
  if (request.headers.origin !== undefined) return failure(403, "forbidden", "Not for browsers.");
  return found.handle(desk, found.key, body);
}

/** Reads a request of the protocol. Throws a `Fault` when it is unknown, not signed, or malformed. */
export function protocolCall(desk: Desk, request: IncomingMessage, body: Buffer): Call {
  const found = find(calls, request);
  if (!found) throw new Fault("ROUTE_NOT_FOUND", { message: "No such path or method." });
  const { method = "", url = "", headers } = request;
  checkSignature(desk.key, desk.clock.now(), method, url, headers, body);
  return found.handle(desk, found.key, body);
}

function find<Result>(routes: Route<Result>[], { method, url = "" }: IncomingMessage) {
  for (const [wanted, path, handle] of routes) {
    const match = wanted === method ? path.exec(url) : null;
    if (match) return { handle, key: match[1] ?? "" };
  }
  return undefined;
}

function parse<Schema extends z.ZodType>(schema: Schema, body: Buffer): z.output<Schema> {
  const parsed = schema.safeParse(body.length === 0 ? {} : parseObject(body), inPlainWords);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const names = issue?.code === "unrecognized_keys" ? issue.keys : issue?.path;
  const field = names?.map(String).join(".") ?? "";
  throw validationFault(field, undefined, `${field}: ${issue?.message}`);
}
