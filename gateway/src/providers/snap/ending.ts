// Ends payments before their time. Only virtual accounts can be ended: no documentation shows how to take back an unpaid QR code or wallet page.
import { AcquirerRefused, type OpenRequest, type ReportedState } from "../../acquirers/acquirer.ts";
import { type CallContext, definiteOnly } from "../caller.ts";
import type { ProviderMethod } from "../profile.ts";
import { readAccountStatus, readDeleted } from "./answers.ts";
import type { SnapClient } from "./client.ts";
import { accountOf, openedBy } from "./opened.ts";
import { type Account, type Partner, bankOf } from "./partner.ts";
import { inquireAccount, deleteAccount } from "./requests.ts";

interface Provider {
  client: Pick<SnapClient, "call">;
  partner: Partner;
  methods: readonly ProviderMethod[];
}

/**
 * Deletes the account of a payment. If the response is no clear yes, the account's status decides: an account that is gone has ended. Throws
 * `AcquirerRefused` when the provider does not end this payment, and an Error when the outcome is unknown or the payment was paid.
 */
export async function endPayment(provider: Provider, request: OpenRequest, context: CallContext): Promise<void> {
  const { code } = provider.partner;
  if (request.method !== "va")
    throw new AcquirerRefused(`${code}: a payment by ${request.method} cannot be ended there before its time`);
  const channel = openedBy(provider.methods, request);
  const found = channel === undefined ? undefined : accountOf(provider.partner, request, channel);
  // Nothing is registered at the provider: when it asks for the bill next, Gerbang answers that the bill is not payable any more.
  if (found?.isBilledOnDemand === true) return;
  // Whether the account exists is not certain, and an inquiry would make it again.
  if (channel === undefined || found?.wasAnnounced !== true)
    throw new Error(`${code}: it is not known yet which account is to be ended`);
  await definiteOnly(deleteIt(provider, request, { channel, account: found.account }, context));
}

interface Place {
  channel: string;
  account: Account;
}

async function deleteIt(provider: Provider, request: OpenRequest, place: Place, context: CallContext): Promise<void> {
  const { client, partner } = provider;
  const answer = await client.call(deleteAccount(partner, request, place.channel, place.account), context);
  if (answer.meaning === "done") return readDeleted(answer.body, request, place.account);
  const said = `${partner.code} answered the end of an account with ${answer.said}`;
  if (answer.meaning !== "refused" && answer.meaning !== "not found") throw new Error(said);
  // The provider did nothing: the account had ended before, was paid, or cannot be ended.
  const state = await stateOf(provider, request, place, context);
  if (state === undefined) return;
  if (answer.meaning === "refused" && state.status === "waiting") throw new AcquirerRefused(said);
  throw new Error(`${said}, and it stands as ${state.status}`);
}

/** State of an account that existed; undefined when it is gone. */
async function stateOf(
  { client, partner }: Provider,
  request: OpenRequest,
  { channel, account }: Place,
  context: CallContext,
): Promise<ReportedState | undefined> {
  const answer = await client.call(inquireAccount(partner, request, channel, account), context);
  if (answer.meaning === "not found") return undefined;
  if (answer.meaning !== "done") throw new Error(`${partner.code} does not tell how it stands: ${answer.said}`);
  return readAccountStatus(answer.body, request, account, bankOf(partner, channel).traits);
}
