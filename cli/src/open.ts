// The command `open`: opens the portal's page of an object, chosen by the prefix of the object's id.
import { openInBrowser } from "./browser.ts";
import { Trouble } from "./failures.ts";
import { identityOf, portalOf } from "./identity.ts";
import { say, write } from "./output/print.ts";
import { words } from "./output/text.ts";

/** Paths below those of a merchant and an environment. */
const pages: Readonly<Record<string, (id: string) => string>> = {
  pay_: (id) => `payments/${id}`,
  lnk_: (id) => `links/${id}`,
  rfd_: (id) => `refunds/${id}`,
  dsp_: (id) => `disputes/${id}`,
  set_: (id) => `settlements/${id}`,
  jrn_: (id) => `ledger/${id}`,
  evt_: (id) => `developers/events/${id}`,
  req_: (id) => `developers/requests/${id}`,
};

/** The path of an object's page. Throws `Trouble` for an id that names none. */
export function pageOf(id: string): string {
  const page = pages[id.slice(0, 4)];
  if (page && /^[a-z]{3}_[0-9a-z]{26}$/.test(id)) return page(id);
  throw new Trouble(
    `${JSON.stringify(id)} is not the id of an object: ids begin with ${Object.keys(pages).join(", ")}.`,
  );
}

export async function openCommand(
  { profile, print }: { profile: string | undefined; print: boolean },
  id: string | undefined,
): Promise<number> {
  const { clientId, baseUrl, merchantId, portalUrl } = identityOf({ profile });
  const portal = (portalUrl ?? portalOf(baseUrl)).replace(/\/+$/, "");
  if (!URL.canParse(portal) || !/^https?:$/.test(new URL(portal).protocol))
    throw new Trouble(`${portal} is not a web address.`);
  if (id !== undefined && merchantId === undefined)
    throw new Trouble(
      "A key from environment variables does not tell which merchant it belongs to: sign in with gerbang login.",
    );
  const environment = clientId.startsWith("ak_live_") ? "production" : "sandbox";
  const place = merchantId === undefined ? "" : `/${merchantId}/${environment}`;
  const address = new URL(`${portal}${place}${id === undefined ? "" : `/${pageOf(id)}`}`).href;
  write(words`${address}\n`);
  if (!print)
    say(
      (await openInBrowser(address))
        ? words`Opening it in your browser.`
        : words`No browser can be opened from here: open the address yourself.`,
    );
  return 0;
}
