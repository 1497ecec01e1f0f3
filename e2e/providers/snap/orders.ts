// The state of SNAP's fake: accounts, QR codes, wallet payments and their refunds, with the answers about each.
import { randomBytes } from "node:crypto";
import type { FakeAnswer, FaultName } from "../fake.ts";

export interface Order {
  kind: "va" | "qris" | "ewallet";
  /** The gateway's reference, as it was sent. */
  reference: string;
  theirs: string;
  amountMinor: number;
  name: string;
  account: Record<string, string>;
  channel: string;
  /** The value of `latestTransactionStatus`. */
  status: string;
  paid: { id: string; amountMinor: number; currency: string } | undefined;
  effects: number;
  /** The gateway deleted this account. */
  isDeleted: boolean;
}

interface Refund {
  payment: Order;
  amountMinor: number;
  status: string;
  no: string;
  effects: number;
}

type Body = Record<string, unknown>;

const KEPT_MAX = 20_000;

export class Orders {
  private readonly as: "doku" | "bri";
  /** Refunds are accepted first and decided later. */
  refundsLater: boolean;
  private readonly byReference = new Map<string, Order>();
  private readonly byAccount = new Map<string, Order>();
  private readonly refunds = new Map<string, Refund>();
  private made = 0;

  constructor(as: "doku" | "bri", refundsLater: boolean) {
    this.as = as;
    this.refundsLater = refundsLater;
  }

  find(key: string): Order {
    const order = this.byReference.get(reference(key));
    if (!order) throw new Error(`there is no order ${key}`);
    return order;
  }

  refund(key: string): Refund {
    const refund = this.refunds.get(reference(key));
    if (!refund) throw new Error(`there is no refund ${key}`);
    return refund;
  }

  opened(key: string): number {
    return this.byReference.get(reference(key))?.effects ?? 0;
  }

  refunded(key: string): number {
    return this.refunds.get(reference(key))?.effects ?? 0;
  }

  pay(order: Order, amountMinor: number, currency: string): void {
    if (order.isDeleted) throw new Error(`${order.reference} was deleted: no bank takes money for it`);
    order.status = "00";
    order.paid = { id: randomBytes(9).readUIntBE(0, 6).toString().padStart(17, "1"), amountMinor, currency };
  }

  handle(service: string, body: Body, fault: FaultName | undefined): FakeAnswer {
    const spoilt = (amount: { value: string; currency: string }) => ({
      value: fault === "wrong amount" ? (Number(amount.value) + 1).toFixed(2) : amount.value,
      currency: fault === "wrong currency" ? "USD" : amount.currency,
    });
    // The answers to these requests have no status beside the response code.
    const which = fault === "unknown status" ? "99" : "00";
    switch (service) {
      case "27":
        return this.createAccount(body, spoilt, which);
      case "26":
        return this.accountStatus(body, spoilt, fault);
      case "31":
        return this.deleteAccount(body, which);
      case "47":
        return this.generateQr(body, fault, which);
      case "05":
        return this.payByWallet(body, which);
      case "51":
      case "55":
        return this.status(service, body, spoilt, fault);
      case "58":
      case "78":
        return this.refundOf(service, body, spoilt, which);
      default:
        return refused(404, service, "00", "Not Found");
    }
  }

  private createAccount(body: Body, spoilt: Spoil, which: string): FakeAnswer {
    const { partnerServiceId, customerNo, virtualAccountNo, trxId, totalAmount, virtualAccountName, expiredDate } =
      body;
    const amount = amountIn(totalAmount);
    const info = (body.additionalInfo ?? {}) as { channel?: string };
    if (typeof trxId !== "string" || trxId.length > 64)
      return refused(400, "27", "02", "Invalid Mandatory Field trxId");
    if (typeof partnerServiceId !== "string" || partnerServiceId.length !== 8)
      return refused(400, "27", "01", "Invalid Field Format partnerServiceId");
    if (virtualAccountNo !== partnerServiceId + String(customerNo))
      return refused(400, "27", "01", "Invalid Field Format virtualAccountNo");
    if (amount === undefined) return refused(400, "27", "01", "Invalid Field Format totalAmount");
    if (Date.parse(String(expiredDate)) < Date.now())
      return refused(400, "27", "01", "Invalid Field Format expiredDate");
    const isTheirs = this.as === "doku" && String(customerNo).length < 6;
    // DOKU makes a new number for each request, and the earlier numbers stay valid; a bank has one account for each number.
    const number = isTheirs ? String(customerNo) + String(++this.made).padStart(10, "0") : String(customerNo);
    const account = { partnerServiceId, customerNo: number, virtualAccountNo: partnerServiceId + number };
    if (this.byAccount.has(account.virtualAccountNo)) return refused(409, "27", "01", "Duplicate virtualAccountNo");
    const order = this.keep("va", trxId, amount, String(virtualAccountName));
    order.account = account;
    order.channel = info.channel ?? "";
    this.byAccount.set(account.virtualAccountNo, order);
    const data = { ...account, virtualAccountName, trxId, totalAmount: spoilt(money(amount)), expiredDate };
    const more = this.as === "doku" ? { virtualAccountTrxType: "C", additionalInfo: info } : { additionalInfo: info };
    return done("27", which, { virtualAccountData: { ...data, ...more } });
  }

  private accountStatus(body: Body, spoilt: Spoil, fault: FaultName | undefined): FakeAnswer {
    const order = this.byAccount.get(String(body.virtualAccountNo));
    if (!order) return refused(404, "26", "12", "Invalid Bill/Virtual Account [Not Found]");
    if (this.as === "bri") {
      const paidStatus = fault === "unknown status" ? "?" : order.paid ? "Y" : "N";
      const shown = order.paid
        ? { paidAmount: spoilt({ ...money(order.paid.amountMinor), currency: order.paid.currency }) }
        : {};
      const data = { ...order.account, ...(fault === undefined ? {} : shown) };
      return done("26", "00", { virtualAccountData: data, additionalInfo: { paidStatus } });
    }
    const { id, amountMinor = order.amountMinor, currency = "IDR" } = order.paid ?? {};
    const english = fault === "unknown status" ? "Held" : order.paid ? "Success" : "Pending";
    const data = {
      ...order.account,
      paymentFlagReason: { english, indonesia: order.paid ? "Sukses" : "Belum Terbayar" },
      // DOKU reports an amount before the account is paid, too.
      paidAmount: spoilt({ ...money(amountMinor), currency }),
      ...(id === undefined ? {} : { paymentRequestId: id }),
    };
    return done("26", "00", {
      virtualAccountData: data,
      additionalInfo: { acquirer: { id: "BCA" }, trxId: order.reference },
    });
  }

  private deleteAccount(body: Body, which: string): FakeAnswer {
    const { partnerServiceId, customerNo, virtualAccountNo, trxId } = body;
    const { channel } = (body.additionalInfo ?? {}) as { channel?: string };
    if (typeof trxId !== "string") return refused(400, "31", "02", "Invalid Mandatory Field trxId");
    if (this.as === "doku" && channel === undefined)
      return refused(400, "31", "02", "Invalid Mandatory Field additionalInfo.channel");
    if (virtualAccountNo !== String(partnerServiceId) + String(customerNo))
      return refused(400, "31", "01", "Invalid Field Format virtualAccountNo");
    const order = this.byAccount.get(virtualAccountNo);
    if (!order) return refused(404, "31", "12", "Invalid Bill/Virtual Account [Not Found]");
    if (order.reference !== trxId) return refused(404, "31", "18", "Inconsistent Request");
    if (order.paid) return refused(404, "31", "14", "Paid Bill");
    order.isDeleted = true;
    this.byAccount.delete(virtualAccountNo);
    // Since January 2024 BRI answers with the account only.
    const more =
      this.as === "doku" ? { trxId, additionalInfo: { channel, virtualAccountConfig: { reusableStatus: false } } } : {};
    return done("31", which, { virtualAccountData: { ...order.account, ...more } });
  }

  private generateQr(body: Body, fault: FaultName | undefined, which: string): FakeAnswer {
    const { partnerReferenceNo, merchantId, terminalId, validityPeriod } = body;
    const amount = amountIn(body.amount);
    if (typeof partnerReferenceNo !== "string" || typeof merchantId !== "string" || typeof terminalId !== "string")
      return refused(400, "47", "02", "Invalid Mandatory Field");
    if (amount === undefined || !(Date.parse(String(validityPeriod)) > Date.now()))
      return refused(400, "47", "01", "Invalid Field Format");
    const { theirs } = this.keep("qris", partnerReferenceNo, amount, merchantId);
    const shown = amount / 100 + (fault === "wrong amount" ? 1 : 0);
    const qrContent = qrText(String(shown), fault === "wrong currency" ? "840" : "360");
    return done("47", which, {
      referenceNo: theirs,
      partnerReferenceNo,
      qrContent,
      terminalId,
      additionalInfo: { validityPeriod },
    });
  }

  private payByWallet(body: Body, which: string): FakeAnswer {
    const { partnerReferenceNo, urlParam, validUpTo } = body;
    const amount = amountIn(body.amount);
    const { channel } = (body.additionalInfo ?? {}) as { channel?: string };
    if (typeof partnerReferenceNo !== "string" || channel === undefined)
      return refused(400, "05", "02", "Invalid Mandatory Field");
    if (amount === undefined || !Array.isArray(urlParam) || !(Date.parse(String(validUpTo)) > Date.now()))
      return refused(400, "05", "01", "Invalid Field Format");
    const order = this.keep("ewallet", partnerReferenceNo, amount, "");
    order.channel = channel;
    return done("05", which, { webRedirectUrl: `https://app-uat.doku.com/link/${order.theirs}`, partnerReferenceNo });
  }

  private status(service: "51" | "55", body: Body, spoilt: Spoil, fault: FaultName | undefined): FakeAnswer {
    const order = this.byReference.get(String(body.originalPartnerReferenceNo));
    if (!order) return refused(404, service, "01", "Transaction Not Found");
    const { amountMinor = order.amountMinor, currency = "IDR" } = order.paid ?? {};
    const amount = spoilt({ ...money(amountMinor), currency });
    const mine = [...this.refunds.entries()].filter(([, { payment }]) => payment === order);
    const isRefunded = mine.some(([, refund]) => refund.status === "00");
    const latestTransactionStatus = fault === "unknown status" ? "99" : isRefunded ? "04" : order.status;
    const told = {
      originalReferenceNo: order.theirs,
      originalPartnerReferenceNo: order.reference,
      serviceCode: service === "51" ? "47" : "55",
      latestTransactionStatus,
    };
    const approval = order.paid ? { approvalCode: order.paid.id } : {};
    if (service === "51")
      return done("51", "00", { ...told, amount, additionalInfo: { ...approval, issuerName: "BCAD" } });
    const refundHistory = mine.map(([partnerReferenceNo, refund]) => ({
      refundNo: refund.no,
      partnerReferenceNo,
      refundAmount: money(refund.amountMinor),
      refundStatus: refund.status,
    }));
    return done("55", "00", { ...told, transAmount: amount, refundHistory });
  }

  private refundOf(service: "58" | "78", body: Body, spoilt: Spoil, which: string): FakeAnswer {
    const { originalPartnerReferenceNo, partnerRefundNo } = body;
    const payment = this.byReference.get(String(originalPartnerReferenceNo));
    const amount = amountIn(body.refundAmount);
    if (!payment?.paid) return refused(404, service, "01", "Transaction Not Found");
    if (typeof partnerRefundNo !== "string" || amount === undefined)
      return refused(400, service, "02", "Invalid Mandatory Field");
    const approval = (body.additionalInfo as { approvalCode?: string } | undefined)?.approvalCode;
    if (service === "78" && approval !== payment.paid.id)
      return refused(400, service, "01", "Invalid Field Format approvalCode");
    if (this.refunds.has(partnerRefundNo)) return refused(409, service, "01", "Duplicate partnerRefundNo");
    const others = [...this.refunds.values()].filter((refund) => refund.payment === payment && refund.status !== "06");
    const before = others.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
    if (before + amount > payment.paid.amountMinor) return refused(404, service, "13", "Invalid Amount");
    const no = `R_${randomBytes(8).toString("hex")}`;
    this.refunds.set(partnerRefundNo, {
      payment,
      amountMinor: amount,
      status: this.refundsLater ? "03" : "00",
      no,
      effects: 1,
    });
    if (this.refundsLater)
      return { status: 202, body: { responseCode: `202${service}00`, responseMessage: "Request In Progress" } };
    return done(service, which, { partnerRefundNo, refundNo: no, refundAmount: spoilt(money(amount)) });
  }

  private keep(kind: Order["kind"], name: string, amountMinor: number, holder: string): Order {
    if (this.byReference.size >= KEPT_MAX) throw new Error("the fake is full");
    const theirs = `D${randomBytes(7).toString("hex")}`;
    const known = this.byReference.get(name);
    const order: Order = {
      kind,
      reference: name,
      theirs,
      amountMinor,
      name: holder,
      account: {},
      channel: "",
      status: "03",
      paid: undefined,
      effects: (known?.effects ?? 0) + 1,
      isDeleted: false,
    };
    this.byReference.set(name, order);
    return order;
  }
}

type Spoil = (amount: { value: string; currency: string }) => { value: string; currency: string };

/** The operation key as the gateway sends it to SNAP providers. */
function reference(key: string): string {
  return key.replaceAll(".", "-");
}

export function money(minor: number): { value: string; currency: string } {
  return { value: (minor / 100).toFixed(2), currency: "IDR" };
}

function amountIn(given: unknown): number | undefined {
  const { value, currency } = (given ?? {}) as { value?: unknown; currency?: unknown };
  return currency === "IDR" && typeof value === "string" && /^\d{1,16}\.\d\d$/.test(value)
    ? Math.round(Number(value) * 100)
    : undefined;
}

function done(service: string, which: string, body: Body): FakeAnswer {
  return { status: 200, body: { responseCode: `200${service}${which}`, responseMessage: "Successful", ...body } };
}

function refused(status: number, service: string, which: string, message: string): FakeAnswer {
  return { status, body: { responseCode: `${status}${service}${which}`, responseMessage: message } };
}

function field(tag: string, value: string): string {
  return tag + String(value.length).padStart(2, "0") + value;
}

/** A dynamic QRIS text with the objects that the connector reads; its checksum is not valid. */
function qrText(amount: string, currency: string): string {
  const account = field("26", field("00", "COM.DOKU.WWW") + field("01", "936008990000047435") + field("02", "47435"));
  const parts = [
    field("00", "01"),
    field("01", "12"),
    account,
    field("52", "5812"),
    field("53", currency),
    field("54", amount),
  ];
  return [...parts, field("58", "ID"), field("59", "DOKU"), field("60", "JAKARTA"), field("63", "0000")].join("");
}
