// By which bank or wallet a payment was opened, and under which number. It is kept with the payment, whatever acquirers.json says later.
import type { Opened, OpenRequest } from "../../acquirers/acquirer.ts";
import { type ProviderMethod, channelOf } from "../profile.ts";
import { accountOpened } from "./answers.ts";
import { type Account, type Partner, bankOf, ownAccount } from "./partner.ts";
import { referenceOf } from "./values.ts";

/**
 * The bank or wallet of a payment that was asked for; `""` for QRIS, which has none. As long as no answer has been kept it is what the
 * configuration says. Undefined where that says none any more.
 */
export function openedBy(
  partner: Partner,
  methods: readonly ProviderMethod[],
  request: OpenRequest,
): string | undefined {
  if (request.method === "qris") return "";
  const { bank, wallet, service } = request.providerIds ?? {};
  const kept = request.method === "va" ? (bank ?? bankOfService(partner, service)) : wallet;
  return kept ?? channelOf(methods, request);
}

/** For payments from before the bank was kept. */
function bankOfService({ accounts }: Partner, service: string | undefined): string | undefined {
  const banks = Object.entries(accounts).filter(([, { partnerServiceId }]) => partnerServiceId === service);
  return banks.length === 1 ? banks[0]?.[0] : undefined;
}

/** An account, and what is known of how it came about. */
export interface FoundAccount {
  account: Account;
  /** Nothing is registered, and they ask for its bill. */
  isAsked: boolean;
  /** An answer of theirs has told it. Else it follows from our key, and may have never been made. */
  isTold: boolean;
}

/**
 * The account of a payment: as it was kept, or as it follows from the operation key. Undefined where only an answer tells it: with two banks
 * where numbers are ours, it is not certain which of them was asked.
 */
export function accountOf(
  partner: Partner,
  { providerIds, operationKey }: OpenRequest,
  channel: string,
): FoundAccount | undefined {
  const { range, traits } = bankOf(partner, channel);
  const { service, customer, bill } = providerIds ?? {};
  if (service !== undefined && customer !== undefined) {
    const isAsked = bill !== undefined;
    return { account: { partnerServiceId: service, customerNo: customer }, isAsked, isTold: !isAsked };
  }
  const own = ownAccount(partner, traits, range, operationKey);
  if (range.numbers === "asked") return { account: own, isAsked: true, isTold: false };
  const isCertain = Object.values(partner.accounts).filter(({ numbers }) => numbers === "ours").length === 1;
  return range.numbers === "ours" && isCertain ? { account: own, isAsked: false, isTold: false } : undefined;
}

/** What the payer is told of an account, and what is kept of it. */
export function openedAt(
  partner: Partner,
  request: OpenRequest,
  channel: string,
  { account, isAsked }: Pick<FoundAccount, "account" | "isAsked">,
): Opened {
  const opened = accountOpened(request, bankOf(partner, channel).bank, account);
  const bill = isAsked ? { bill: referenceOf(request.operationKey) } : {};
  return { ...opened, providerIds: { ...opened.providerIds, bank: channel, ...bill } };
}
