// The form in which e-mail addresses and telephones are compared, so that several ways to write one address are one customer. Pure.
import { domainToASCII } from "node:url";

/** A contact in compatibility form and lower case; the domain of an address in ASCII, without a final dot. */
export function plainContact(contact: string): string {
  const plain = contact.normalize("NFKC").trim().toLowerCase();
  const at = plain.lastIndexOf("@") + 1;
  return at === 0 ? plain : plain.slice(0, at) + plainDomain(plain.slice(at));
}

/** The domain of an address in the form that it is compared in; undefined for a telephone. */
export function domainOf(contact: string): string | undefined {
  const plain = plainContact(contact);
  return plain.includes("@") ? plain.slice(plain.lastIndexOf("@") + 1) : undefined;
}

function plainDomain(domain: string): string {
  const bare = domain.replace(/\.$/, "");
  // It gives nothing for what is no domain.
  return domainToASCII(bare) || bare;
}
