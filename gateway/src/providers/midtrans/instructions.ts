// Reads the payer's instructions from Midtrans' responses: a QR text, an account number, Mandiri's bill key, or the address of a page. Pure.
import type { Instructions, OpenRequest } from "../../acquirers/acquirer.ts";
import { objectionToAddresses } from "../../acquirers/payer-address.ts";
import { otherMoneyIn, readQr } from "../../acquirers/qris-reading.ts";
import { wireTime } from "../../ground/clock.ts";
import type { Transaction } from "./answers.ts";

interface OrderedPayment extends Pick<OpenRequest, "method" | "amountMinor" | "merchantName" | "expiresAt"> {
  /** The ordered bank; undefined when any bank will do. */
  bank?: string;
}

/** Keyed by Midtrans' names. The codes are those by which transfers name a bank in Indonesia. */
const banks: Readonly<Record<string, { code: string; name: string }>> = {
  bca: { code: "014", name: "Bank Central Asia" },
  bni: { code: "009", name: "Bank Negara Indonesia" },
  bri: { code: "002", name: "Bank Rakyat Indonesia" },
  cimb: { code: "022", name: "Bank CIMB Niaga" },
  mandiri: { code: "008", name: "Bank Mandiri" },
  permata: { code: "013", name: "Bank Permata" },
};

/**
 * The instructions in a response; undefined when it has none, since an inquiry repeats neither QR text nor link. Throws for instructions that no
 * payer can use. `plainOnLoopback` allows plain http to this machine.
 */
export function instructionsOf(
  transaction: Transaction,
  ordered: OrderedPayment,
  plainOnLoopback: boolean,
): Instructions | undefined {
  if (ordered.method === "qris") return qris(transaction, ordered);
  if (ordered.method === "va") return virtualAccount(transaction, ordered);
  const link = transaction.actions?.find((action) => action.name === "deeplink-redirect");
  return link && redirect(link.url, ordered, plainOnLoopback);
}

/** Instructions that send the payer to this address. Throws when payers must not be sent there. */
export function redirect(
  url: string,
  { expiresAt }: Pick<OrderedPayment, "expiresAt">,
  plainOnLoopback: boolean,
): Instructions {
  const instructions: Instructions = {
    type: "redirect",
    value: url,
    redirect_url: url,
    expires_at: wireTime(expiresAt),
  };
  const objection = objectionToAddresses(instructions, plainOnLoopback);
  if (objection !== undefined)
    throw new Error(`Midtrans answered with an address that payers cannot use: ${objection}`);
  return instructions;
}

function qris({ qr_string }: Transaction, { amountMinor, expiresAt }: OrderedPayment): Instructions | undefined {
  if (qr_string === undefined) return undefined;
  const qr = readQr(qr_string);
  if (!qr.crc.matches) throw new Error("Midtrans answered with a QR text whose checksum is wrong");
  const other = qr.objects.some(({ tag }) => tag === "54") ? otherMoneyIn(qr, amountMinor) : "amount";
  if (other !== undefined) throw new Error(`Midtrans answered with a QR text of another ${other}`);
  return { type: "qr_string", value: qr_string, qr_string, expires_at: wireTime(expiresAt) };
}

function virtualAccount(
  transaction: Transaction,
  { merchantName, expiresAt, bank: asked }: OrderedPayment,
): Instructions | undefined {
  const found = accountOf(transaction);
  if (!found) return undefined;
  const { channel, number, extra } = found;
  const bank = Object.hasOwn(banks, channel) ? banks[channel] : undefined;
  if (asked !== undefined && channel !== asked) throw new Error("Midtrans answered with an account at another bank");
  if (!bank) throw new Error(`Midtrans answered with an account at ${channel}, a bank that is not known here`);
  return {
    type: "va_number",
    value: number,
    bank_name: bank.name,
    bank_code: bank.code,
    account_number: number,
    account_name: merchantName,
    ...extra,
    expires_at: wireTime(expiresAt),
  };
}

/** The account number has several places: Permata has a field of its own, and a Mandiri bill has a biller code beside its key. */
function accountOf(
  transaction: Transaction,
): { channel: string; number: string; extra: Readonly<Record<string, string>> } | undefined {
  const { va_numbers: [first] = [], permata_va_number, biller_code, bill_key } = transaction;
  if (first) return { channel: first.bank.toLowerCase(), number: first.va_number, extra: {} };
  if (permata_va_number) return { channel: "permata", number: permata_va_number, extra: {} };
  if (bill_key && biller_code) return { channel: "mandiri", number: bill_key, extra: { biller_code } };
  return undefined;
}
