// Runs the commands `links list`, `get`, `create` and `deactivate`.
import type { ReadOptions } from "../../sdk/src/calls.ts";
import type { CreatePaymentLink, PaymentLink, PaymentLinkFilters } from "../../sdk/src/types.ts";
import type { Change, Common } from "./common.ts";
import { clientOf } from "./identity.ts";
import { intent } from "./intent.ts";
import { toneOf } from "./output/color.ts";
import { printList } from "./output/list.ts";
import { amountOf } from "./output/money.ts";
import { printObject } from "./output/print.ts";
import type { Column } from "./output/table.ts";

const columns: readonly Column<PaymentLink>[] = [
  { head: "LINK", cell: ({ uuid }) => uuid },
  { head: "STATUS", cell: ({ status }) => status, tone: ({ status }) => toneOf(status) },
  { head: "AMOUNT", align: "right", cell: ({ amount_minor: minor, exponent }) => amountOf(minor, exponent) },
  { head: "", cell: ({ currency }) => currency },
  { head: "PAID", cell: ({ reusable }) => (reusable ? "many times" : "once") },
  { head: "ADDRESS", cell: ({ url }) => url },
];

type Status = NonNullable<PaymentLinkFilters["status"]>;

export function listLinks(
  values: Common & { limit: string; watch: boolean; status: Status | undefined },
): Promise<number> {
  const { status } = values;
  const { paymentLinks } = clientOf(values);
  const listing = {
    ask: (limit: number, options: ReadOptions) =>
      paymentLinks.list({ limit, ...(status === undefined ? {} : { status }) }, options),
    columns,
    id: ({ uuid }: PaymentLink) => uuid,
    empty: "No payment links. gerbang links create makes one.",
  };
  return printList(listing, values);
}

export async function getLink(values: Common, uuid: string): Promise<number> {
  return printObject(await clientOf(values).paymentLinks.get(uuid), values);
}

interface Creation extends Change {
  "amount-minor": string | undefined;
  currency: string;
  reusable: boolean;
  description: string | undefined;
  "expires-in": string | undefined;
}

export async function createLink(values: Creation): Promise<number> {
  const { currency, reusable, description } = values;
  const [amount, expiresIn] = [values["amount-minor"], values["expires-in"]];
  const body: CreatePaymentLink = {
    currency,
    reusable,
    ...(amount === undefined ? {} : { amount_minor: Number(amount) }),
    ...(description === undefined ? {} : { description }),
    ...(expiresIn === undefined ? {} : { expires_in: Number(expiresIn) }),
  };
  const options = intent(values);
  return printObject(await clientOf(values).paymentLinks.create(body, options), values);
}

export async function deactivateLink(values: Change, uuid: string): Promise<number> {
  const options = intent(values);
  return printObject(await clientOf(values).paymentLinks.deactivate(uuid, options), values);
}
