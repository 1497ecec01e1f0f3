// QRIS: the EMVCo merchant-presented QR string of a payment, as Indonesian readers parse it.
import { type Minor, decimal } from "../ground/money.ts";

/** One data object: two digits of tag, two of length, then the value (ASCII, at most 99 characters). */
function field(tag: string, value: string): string {
  return `${tag}${String(value.length).padStart(2, "0")}${value}`;
}

/** CRC-16 table, indexed by the byte that is shifted out of the register. */
const remainders = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  return crc;
});

/** CRC-16/CCITT-FALSE over the text, four upper-case hex digits. */
export function crc16(text: string): string {
  let crc = 0xffff;
  for (let at = 0; at < text.length; at++) {
    crc = ((crc << 8) & 0xffff) ^ (remainders[((crc >>> 8) ^ text.charCodeAt(at)) & 255] as number);
  }
  return crc.toString(16).toUpperCase().padStart(4, "0");
}

/** Printable ASCII in upper case, cut to `length`: QR readers must not meet a character that they cannot show. */
function plain(text: string, length: number, otherwise: string): string {
  const ascii = text
    .normalize("NFKD")
    .replaceAll(/[^\x20-\x7e]/g, "")
    .trim()
    .toUpperCase()
    .slice(0, length)
    .trim();
  return ascii === "" ? otherwise : ascii;
}

export interface QrisRequest {
  /** Undefined for a static code, where the payer types the amount. */
  amountMinor: Minor | undefined;
  merchantName: string;
  city: string;
  postalCode: string;
  categoryCode: string;
  /** National merchant identity: `ID` and digits, 13 characters or more. */
  nationalMerchantId: string;
  /** The acquirer's reverse domain; `merchantPan` and `merchantId` are the merchant's numbers at the acquirer. */
  acquirerDomain: string;
  merchantPan: string;
  merchantId: string;
  /** At most 25 characters. The payer's bank sends them back with the payment. */
  billNumber: string | undefined;
}

/** Builds a QRIS string in IDR: tags 00 01 26 51 52 53 54 58 59 60 61 62 63, without 54 if it has no amount and 62 if it has no bill. */
export function qrisString(request: QrisRequest): string {
  const { amountMinor, billNumber } = request;
  const body =
    field("00", "01") +
    field("01", amountMinor === undefined ? "11" : "12") +
    field(
      "26",
      field("00", request.acquirerDomain) +
        field("01", request.merchantPan) +
        field("02", request.merchantId) +
        field("03", "UMI"),
    ) +
    field("51", field("00", "ID.CO.QRIS.WWW") + field("02", request.nationalMerchantId) + field("03", "UMI")) +
    field("52", request.categoryCode) +
    field("53", "360") +
    (amountMinor === undefined ? "" : field("54", decimal(amountMinor, "IDR"))) +
    field("58", "ID") +
    field("59", plain(request.merchantName, 25, "MERCHANT")) +
    field("60", plain(request.city, 15, "JAKARTA")) +
    field("61", request.postalCode) +
    (billNumber === undefined ? "" : field("62", field("01", billNumber.slice(0, 25)))) +
    "6304";
  return body + crc16(body);
}
