// The bank or wallet and the account number of an opened payment, which are stored with it, whatever acquirers.json says later.
import type { Opened, OpenRequest } from "../../acquirers/acquirer.ts";
import { type ProviderMethod, channelOf } from "../profile.ts";
import { accountOpened } from "./answers.ts";
import { type Account, type Partner, bankOf, ownAccount } from "./partner.ts";
import { referenceOf } from "./values.ts";

/** The bank or wallet of a payment, `""` for QRIS: as stored, else by the configuration. Undefined when that names none any more. */
export function openedBy(methods: readonly ProviderMethod[], request: OpenRequest): string | undefined {
  if (request.method === "qris") return "";
  const { bank, wallet } = request.providerIds ?? {};
  return (request.method === "va" ? bank : wallet) ?? channelOf(methods, request);
}

/** An account, and how it came about. */
interface FoundAccount {
  account: Account;
  /** Nothing is registered at the bank, which asks Gerbang for the bill. */
  isBilledOnDemand: boolean;
  /** A response of the provider contained the account. Otherwise it follows from the operation key, and may never have been made. */
  wasAnnounced: boolean;
}

/**
 * The account of a payment: stored, or derived from the operation key. Undefined when only a response can tell it: with numbers of Gerbang's own
 * at several banks, it is not certain which bank was asked.
 */
export function accountOf(
  partner: Partner,
  { providerIds, operationKey }: OpenRequest,
  channel: string,
): FoundAccount | undefined {
  const { range, traits } = bankOf(partner, channel);
  const { service, customer, bill } = providerIds ?? {};
  if (service !== undefined && customer !== undefined) {
    const isBilledOnDemand = bill !== undefined;
    return {
      account: { partnerServiceId: service, customerNo: customer },
      isBilledOnDemand,
      wasAnnounced: !isBilledOnDemand,
    };
  }
  const own = ownAccount(partner, traits, range, operationKey);
  if (range.numbers === "asked") return { account: own, isBilledOnDemand: true, wasAnnounced: false };
  const isCertain = Object.values(partner.accounts).filter(({ numbers }) => numbers === "ours").length === 1;
  return range.numbers === "ours" && isCertain
    ? { account: own, isBilledOnDemand: false, wasAnnounced: false }
    : undefined;
}

/** The payer's instructions for an account, and the ids that are stored. */
export function openedAt(
  partner: Partner,
  request: OpenRequest,
  channel: string,
  { account, isBilledOnDemand }: Pick<FoundAccount, "account" | "isBilledOnDemand">,
): Opened {
  const opened = accountOpened(request, bankOf(partner, channel).bank, account);
  const bill = isBilledOnDemand ? { bill: referenceOf(request.operationKey) } : {};
  return { ...opened, providerIds: { ...opened.providerIds, bank: channel, ...bill } };
}
