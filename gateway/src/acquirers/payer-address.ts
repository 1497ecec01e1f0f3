// Checks the addresses that an acquirer's response contains for payers. Merchants send browsers to them, so only web pages over TLS pass.
import type { Instructions } from "./acquirer.ts";
import { isLoopback } from "./remote-profile.ts";

const ADDRESS_MAX = 2048;

/**
 * Says what is wrong with the first bad address in the instructions; undefined when all are fine. Addresses are `redirect_url`, other fields named
 * `url` or `…_url`, and the value of a redirect. `plainOnLoopback` allows plain http to this machine, for an acquirer that is tried out on it.
 */
export function objectionToAddresses(instructions: Instructions, plainOnLoopback: boolean): string | undefined {
  for (const [name, text] of Object.entries(instructions)) {
    if (!/(^|_)url$/.test(name) && !(name === "value" && instructions.type === "redirect")) continue;
    const objection = objectionTo(text, plainOnLoopback);
    if (objection !== undefined) return `instructions.${name} ${objection}`;
  }
  return undefined;
}

function objectionTo(text: string, plainOnLoopback: boolean): string | undefined {
  if (text.length > ADDRESS_MAX) return `has more than ${ADDRESS_MAX} characters`;
  // Browsers drop or repair characters that their parser finds odd, so a text that is not strictly an address is rejected.
  if (!/^https?:\/\/(?![/?#])[\x21-\x7e]+$/i.test(text) || text.includes("\\") || !URL.canParse(text))
    return "is no https address";
  const url = new URL(text);
  if (url.protocol === "http:" && !(plainOnLoopback && isLoopback(url.hostname))) return "is no https address";
  if (/^https?:\/\/[^/?#]*@/i.test(text)) return "has a user name in it";
  return undefined;
}
