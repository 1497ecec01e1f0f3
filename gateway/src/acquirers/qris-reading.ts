// Reads an EMVCo merchant-presented QR text: each data object with its meaning, and whether the checksum is right. Pure.
import type { Minor } from "../ground/money.ts";
import { crc16 } from "./qris.ts";

/** One data object. `objects` are the nested data objects of a template. */
export interface QrObject {
  tag: string;
  /** Meaning of the tag at this level of the text. */
  name: string;
  value: string;
  /** Meaning of the value, when the value does not explain itself. */
  meaning: string | undefined;
  objects: QrObject[] | undefined;
}

interface ReadQr {
  objects: QrObject[];
  /** The text from the first part on that cannot be parsed; empty when all of it can. */
  rest: string;
  crc: { stated: string | undefined; computed: string; matches: boolean };
  /** Sentences that say why a strict reader would reject the text; empty when it would not. */
  problems: string[];
}

const names: Record<string, string> = {
  "00": "Payload format",
  "01": "Point of initiation",
  "51": "National merchant account (QRIS)",
  "52": "Merchant category",
  "53": "Currency",
  "54": "Amount",
  "55": "Tip or convenience fee",
  "56": "Convenience fee, fixed",
  "57": "Convenience fee, percent",
  "58": "Country",
  "59": "Merchant's name",
  "60": "City",
  "61": "Postal code",
  "62": "Additional data",
  "63": "Checksum",
  "64": "Name and city in another language",
};
const accountNames: Record<string, string> = {
  "00": "Whose account (reverse domain)",
  "01": "Merchant PAN",
  "02": "Merchant identity",
  "03": "Merchant criteria",
};
const additionalNames: Record<string, string> = {
  "01": "Bill number",
  "02": "Mobile number",
  "03": "Store",
  "04": "Loyalty number",
  "05": "Reference",
  "06": "Customer",
  "07": "Terminal",
  "08": "Purpose",
  "09": "Data asked of the payer",
};
const languageNames: Record<string, string> = { "00": "Language", "01": "Merchant's name", "02": "City" };

const initiations: Record<string, string> = {
  "11": "static: may be paid many times",
  "12": "dynamic: for one payment",
};
const tips: Record<string, string> = {
  "01": "the payer adds a tip",
  "02": "a fixed fee is added",
  "03": "a share is added",
};
const criteria: Record<string, string> = {
  UMI: "micro business",
  UKE: "small business",
  UME: "medium business",
  UBE: "large business",
  URE: "regular business",
};
const currencies: Record<string, string> = { "360": "IDR", "702": "SGD", "458": "MYR", "764": "THB", "840": "USD" };

const NEEDED = ["00", "52", "53", "58", "59", "60", "63"];

/** Reads any text. The first part that cannot be parsed ends the reading and is reported as a problem. */
export function readQr(text: string): ReadQr {
  const problems: string[] = [];
  const objects = readObjects(text, "", (problem) => problems.push(problem));
  const rest = text.slice(objects.reduce((sum, { value }) => sum + 4 + value.length, 0));
  const valueOf = (tag: string): string | undefined => objects.find((object) => object.tag === tag)?.value;
  // The checksum's tag and length are looked for at their fixed place only: one checksum in 65,536 reads 6304 itself.
  const isSigned = text.slice(-8, -4) === "6304";
  const computed = crc16(Buffer.from(isSigned ? text.slice(0, -4) : text, "utf8").toString("latin1"));
  const stated = valueOf("63");
  const matches = stated === computed && isSigned;
  if (valueOf("00") !== "01" || objects[0]?.tag !== "00")
    problems.push("It does not begin with 000201, the payload format.");
  for (const tag of NEEDED.slice(1)) {
    if (valueOf(tag) === undefined) problems.push(`Tag ${tag}, ${nameOf("", tag).toLowerCase()}, is missing.`);
  }
  if (!objects.some(({ tag }) => isAccount(tag))) problems.push("No merchant account is in it: a tag from 02 to 51.");
  if (stated !== undefined && objects.at(-1)?.tag !== "63") problems.push("The checksum, tag 63, is not the last one.");
  if (stated !== undefined && stated !== computed)
    problems.push(`The checksum is ${stated}, and of this text it is ${computed}: something in it was changed.`);
  return { objects, rest, crc: { stated, computed, matches }, problems };
}

/** In what a code differs from an amount of rupiah, where it says anything. One that breaks off within it, or says it twice, may be other money. */
export function otherMoneyIn(
  { objects, rest }: Pick<ReadQr, "objects" | "rest">,
  amountMinor: Minor,
): "currency" | "amount" | undefined {
  const valuesOf = (tag: string): string[] => objects.filter((object) => object.tag === tag).map(({ value }) => value);
  if (valuesOf("53").some((currency) => currency !== "360")) return "currency";
  const isOther = (amount: string): boolean => {
    const [, whole, decimals = ""] = /^(\d{1,13})(?:\.(\d{0,2}))?$/.exec(amount) ?? [];
    return whole === undefined || BigInt(whole + decimals.padEnd(2, "0")) !== amountMinor;
  };
  return valuesOf("54").some(isOther) || /^5[34]/.test(rest) ? "amount" : undefined;
}

function readObjects(text: string, within: string, report: (problem: string) => void): QrObject[] {
  const objects: QrObject[] = [];
  // Lengths count characters, so a text beyond ASCII is split into code points.
  const characters = /^\p{ASCII}*$/u.test(text) ? text : [...text];
  const seen = new Set<string>();
  const place = within === "" ? "" : ` in tag ${within}`;
  for (let at = 0; at < characters.length;) {
    const head = textOf(characters.slice(at, at + 4));
    if (!/^\d{4}$/.test(head)) {
      report(`At character ${at + 1}${place} stands no tag and length of two digits each.`);
      return objects;
    }
    const tag = head.slice(0, 2);
    const length = Number(head.slice(2));
    const value = textOf(characters.slice(at + 4, at + 4 + length));
    if (at + 4 + length > characters.length) {
      report(`Tag ${tag}${place} says ${length} characters, and ${characters.length - at - 4} are left.`);
      return objects;
    }
    if (seen.has(tag)) report(`Tag ${tag}${place} stands there twice.`);
    seen.add(tag);
    const isTemplate =
      within === "" && Number(tag) >= 26 && (isAccount(tag) || tag === "62" || tag === "64" || Number(tag) >= 80);
    objects.push({
      tag,
      name: nameOf(within, tag),
      value,
      meaning: meaningOf(within, tag, value),
      objects: isTemplate ? readObjects(value, tag, report) : undefined,
    });
    at += 4 + length;
  }
  return objects;
}

const textOf = (characters: string | string[]): string =>
  typeof characters === "string" ? characters : characters.join("");

function isAccount(tag: string): boolean {
  return Number(tag) >= 2 && Number(tag) <= 51;
}

function nameOf(within: string, tag: string): string {
  if (within === "")
    return names[tag] ?? (isAccount(tag) ? "Merchant account" : Number(tag) >= 80 ? "Unreserved" : "Reserved");
  if (within === "62") return additionalNames[tag] ?? "Reserved";
  if (within === "64") return languageNames[tag] ?? "Reserved";
  return accountNames[tag] ?? "Of this scheme";
}

function meaningOf(within: string, tag: string, value: string): string | undefined {
  if (within === "") {
    const known: Record<string, Record<string, string>> = { "01": initiations, "53": currencies, "55": tips };
    return known[tag]?.[value];
  }
  return isAccount(within) && tag === "03" ? criteria[value] : undefined;
}
