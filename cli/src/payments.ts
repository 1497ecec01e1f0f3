// Runs the commands `payments list`, `get`, `create`, `cancel`, `wait` and `simulate`.
import type { ReadOptions } from "../../sdk/src/calls.ts";
import { createHash, randomUUID } from "node:crypto";
import type {
  CreatePayment,
  Payment,
  PaymentFilters,
  PaymentMethod,
  PaymentStatus,
  SimulatePayment,
} from "../../sdk/src/types.ts";
import type { Change, Common, ListOptions } from "./common.ts";
import { clientOf } from "./identity.ts";
import { intent } from "./intent.ts";
import { toneOf } from "./output/color.ts";
import { printList } from "./output/list.ts";
import { digitsOf } from "./output/money.ts";
import { printObject } from "./output/print.ts";
import type { Column } from "./output/table.ts";

interface Listed extends ListOptions {
  status: PaymentStatus | undefined;
  method: PaymentMethod | undefined;
  "reference-id": string | undefined;
  from: string | undefined;
  to: string | undefined;
}

const columns: readonly Column<Payment>[] = [
  { head: "REFERENCE", cell: ({ reference }) => reference },
  { head: "STATUS", cell: ({ status }) => status, tone: ({ status }) => toneOf(status) },
  { head: "AMOUNT", align: "right", cell: ({ amount_minor: minor, exponent }) => digitsOf(minor, exponent) },
  { head: "", cell: ({ currency }) => currency },
  { head: "METHOD", cell: ({ payment_method: method }) => method },
  { head: "YOUR ID", cell: ({ reference_id: id }) => id },
  { head: "CREATED", cell: ({ created_at: at }) => at },
];

export function listPayments({ status, method, from, to, ...values }: Listed): Promise<number> {
  const filters: PaymentFilters = {
    ...(status === undefined ? {} : { status }),
    ...(method === undefined ? {} : { payment_method: method }),
    ...(values["reference-id"] === undefined ? {} : { reference_id: values["reference-id"] }),
    ...(from === undefined ? {} : { created_from: from }),
    ...(to === undefined ? {} : { created_to: to }),
  };
  const { payments } = clientOf(values);
  const listing = {
    // A reference id names one payment, so the request has no page size.
    ask: (limit: number, options: ReadOptions) =>
      payments.list(filters.reference_id === undefined ? { ...filters, limit } : filters, options),
    columns,
    id: ({ reference }: Payment) => reference,
    empty:
      Object.keys(filters).length === 0
        ? "No payments. gerbang payments create --amount-minor 150000 makes one."
        : "No payments match.",
  };
  return printList(listing, values);
}

export async function getPayment(values: Common, reference: string): Promise<number> {
  return printObject(await clientOf(values).payments.get(reference), values);
}

interface Creation extends Change {
  "amount-minor": string;
  currency: string;
  method: PaymentMethod;
  "reference-id": string | undefined;
  description: string | undefined;
  "expires-in": string | undefined;
  "return-url": string | undefined;
  scenario: string | undefined;
}

export async function createPayment(values: Creation): Promise<number> {
  const { currency, method, description, scenario } = values;
  const { "reference-id": own, "idempotency-key": given } = values;
  // An order of one's own makes the key; without one the key makes the order, so that the same key is the same payment.
  const key = given ?? (own === undefined ? randomUUID() : undefined);
  const [expiresIn, returnUrl] = [values["expires-in"], values["return-url"]];
  const body: CreatePayment = {
    amount_minor: Number(values["amount-minor"]),
    currency,
    payment_method: method,
    reference_id: own ?? `cli-${createHash("sha256").update(String(key)).digest("hex").slice(0, 32)}`,
    ...(description === undefined ? {} : { description }),
    ...(expiresIn === undefined ? {} : { expires_in: Number(expiresIn) }),
    ...(returnUrl === undefined ? {} : { return_url: returnUrl }),
    ...(scenario === undefined ? {} : { metadata: { "sandbox.scenario": scenario } }),
  };
  const { payments } = clientOf(values);
  return printObject(await payments.createOrFind(body, intent(values, key)), values);
}

export async function cancelPayment(
  values: Change & { reason: string | undefined },
  reference: string,
): Promise<number> {
  const { reason } = values;
  const body = reason === undefined ? {} : { reason };
  const options = intent(values);
  return printObject(await clientOf(values).payments.cancel(reference, body, options), values);
}

export async function waitForPayment(
  values: Common & { for: PaymentStatus; timeout: string },
  reference: string,
): Promise<number> {
  const timeoutMs = Number(values.timeout) * 1000;
  return printObject(await clientOf(values).payments.waitFor(reference, values.for, { timeoutMs }), values);
}

export async function simulatePayment(
  values: Change & { outcome: SimulatePayment["outcome"] },
  reference: string,
): Promise<number> {
  const options = intent(values);
  return printObject(await clientOf(values).sandbox.payments.simulate(reference, values.outcome, options), values);
}
