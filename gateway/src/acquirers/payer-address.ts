// The addresses that an acquirer's answer brings for payers: merchants send browsers there, so nothing but a web page over TLS passes.
import type { Instructions } from "./acquirer.ts";
import { isLoopback } from "./remote-profile.ts";

const ADDRESS_MAX = 2048;

/**
 * What is wrong with the first address in the instructions that payers must not be sent to; undefined where all are fine. Addresses are
 * `redirect_url`, every other field that is named so, and the value of a redirect. `plainOnLoopback`: the acquirer itself is tried out on this machine, over
 * plain http.
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
  // A browser drops or mends what its parser finds odd: what is not written as an address is none.
  if (!/^https?:\/\/(?![/?#])[\x21-\x7e]+$/i.test(text) || text.includes("\\") || !URL.canParse(text))
    return "is no https address";
  const url = new URL(text);
  const isPlain = url.protocol === "http:";
  if (isPlain && !(plainOnLoopback && isLoopback(url.hostname))) return "is no https address";
  if (/^https?:\/\/[^/?#]*@/i.test(text)) return "has a user name in it";
  return undefined;
}
