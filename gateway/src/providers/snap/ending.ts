// How a payment is ended before its time. Virtual accounts alone can be: no page shows how a QR code or a wallet's page is taken back that
// nobody has paid.
import { AcquirerRefused, type OpenRequest, type Standing, type Tell } from "../../acquirers/acquirer.ts";
import { definiteOnly } from "../caller.ts";
import type { ProviderMethod } from "../profile.ts";
import { readAccountStatus, readDeleted } from "./answers.ts";
import type { SnapClient } from "./client.ts";
import { accountOf, openedBy } from "./opened.ts";
import { type Account, type Partner, bankOf } from "./partner.ts";
import { askAccount, deleteAccount } from "./requests.ts";

/** Whom to ask, as whom, and what the configuration says. */
interface Provider {
  client: Pick<SnapClient, "call">;
  partner: Partner;
  methods: readonly ProviderMethod[];
}

/**
 * Deletes the account of a payment. Where their answer is no clear yes, their status decides: an account that has gone has ended. Throws
 * `AcquirerRefused` where they do not end this, and an Error where it is not known whether it has ended, or where it was paid.
 */
export async function endPayment(
  provider: Provider,
  request: OpenRequest,
  signal: AbortSignal,
  tell?: Tell,
): Promise<void> {
  const { code } = provider.partner;
  if (request.method !== "va")
    throw new AcquirerRefused(`${code}: a payment by ${request.method} cannot be ended there before its time`);
  const channel = openedBy(provider.partner, provider.methods, request);
  const found = channel === undefined ? undefined : accountOf(provider.partner, request, channel);
  // Nothing is registered there: the next answer to their question for the bill says that it is not payable any more.
  if (found?.isAsked === true) return;
  // What is not known to be there is not ended either: asked about, it would be made again.
  if (channel === undefined || found?.isTold !== true)
    throw new Error(`${code}: it is not known yet which account is to be ended`);
  await definiteOnly(deleteIt(provider, request, { channel, account: found.account }, signal, tell));
}

interface Place {
  channel: string;
  account: Account;
}

async function deleteIt(
  provider: Provider,
  request: OpenRequest,
  place: Place,
  signal: AbortSignal,
  tell?: Tell,
): Promise<void> {
  const { client, partner } = provider;
  const answer = await client.call(deleteAccount(partner, request, place.channel, place.account), signal, tell);
  if (answer.meaning === "done") return readDeleted(answer.body, request, place.account);
  const said = `${partner.code} answered the end of an account with ${answer.said}`;
  if (answer.meaning !== "refused" && answer.meaning !== "not found") throw new Error(said);
  // Nothing was done now: it had ended before, or was paid, or they end none.
  const standing = await standingOf(provider, request, place, signal, tell);
  if (standing === undefined) return;
  if (answer.meaning === "refused" && standing.status === "waiting") throw new AcquirerRefused(said);
  throw new Error(`${said}, and it stands as ${standing.status}`);
}

/** How an account that was there stands now; undefined when it has gone. */
async function standingOf(
  { client, partner }: Provider,
  request: OpenRequest,
  { channel, account }: Place,
  signal: AbortSignal,
  tell?: Tell,
): Promise<Standing | undefined> {
  const answer = await client.call(askAccount(partner, request, channel, account), signal, tell);
  if (answer.meaning === "not found") return undefined;
  if (answer.meaning !== "done") throw new Error(`${partner.code} does not tell how it stands: ${answer.said}`);
  return readAccountStatus(answer.body, request, account, bankOf(partner, channel).traits);
}
