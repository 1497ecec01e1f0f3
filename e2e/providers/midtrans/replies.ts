// The forms of the fake's answers and errors, and the readers of its requests.
import { randomUUID } from "node:crypto";
import type { FakeAnswer, FakeRequest, FaultName } from "../fake.ts";
import { type FakeOrder, rupiahText, transactionOf } from "./orders.ts";

/** The answer about an order. Inquiries repeat the payment link only for pending ShopeePay orders. */
export function answerOf(order: FakeOrder, code: string, message: string): FakeAnswer {
  const actions = order.paymentType === "shopeepay" && order.status === "pending" ? order.told : {};
  return { status: 200, body: { status_code: code, status_message: message, ...transactionOf(order), ...actions } };
}

export function refused(code: string, message: string): FakeAnswer {
  return { status: 200, body: { status_code: code, status_message: message, id: randomUUID() } };
}

export function pageError(...error_messages: string[]): FakeAnswer {
  return { status: 400, body: { error_messages } };
}

export function unauthorized(isPage: boolean): FakeAnswer {
  const message = "Access denied due to unauthorized transaction, please check client or server key";
  if (isPage) return { status: 401, body: { error_messages: [message] } };
  return { status: 401, body: { status_code: "401", status_message: message, id: randomUUID() } };
}

/** The answer after faults that alter one field. */
export function changed(answer: FakeAnswer, fault: FaultName | undefined): FakeAnswer {
  const body = answer.body as Record<string, unknown>;
  if (fault === "wrong amount" && typeof body["gross_amount"] === "string")
    return { ...answer, body: { ...body, gross_amount: rupiahText(Number(body["gross_amount"]) + 1_000) } };
  if (fault === "wrong currency") return { ...answer, body: { ...body, currency: "USD" } };
  if (fault === "unknown status") return { ...answer, body: { ...body, transaction_status: "perhaps" } };
  return answer;
}

export function orderedIn(body: Record<string, unknown>): { orderId: string; amount: number } | undefined {
  const details = body["transaction_details"] as { order_id?: unknown; gross_amount?: unknown } | undefined;
  const { order_id: orderId, gross_amount: amount } = details ?? {};
  if (typeof orderId !== "string" || !/^[\w.~-]{1,50}$/.test(orderId)) return undefined;
  return typeof amount === "number" && Number.isInteger(amount) && amount > 0 ? { orderId, amount } : undefined;
}

/** The notification addresses of a request: at most three, separated by commas. */
export function notifyUrlsOf({ headers }: FakeRequest): string[] {
  const text = headers["x-override-notification"];
  return typeof text === "string" ? text.split(",").slice(0, 3) : [];
}

export function objectOf(body: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
