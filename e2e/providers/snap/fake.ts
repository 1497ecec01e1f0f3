// A fake of DOKU and BRI, built from their documentation of SNAP and apart from the connector: it checks signatures and X-EXTERNAL-IDs, keeps
// accounts, QR codes, wallet pages and refunds, and sends notifications under tokens that it requests from the gateway.
import { createHash, createHmac, createSign, createVerify, randomBytes } from "node:crypto";
import { pathToFileURL } from "node:url";
import { NotApplicable } from "../../../gateway/src/providers/exam/bench.ts";
import { type Fake, type FakeAnswer, type FakeControl, type FakeRequest, FakeServer, controlled } from "../fake.ts";
import { type Order, Orders, money } from "./orders.ts";

interface SnapFakeOptions {
  /** The provider whose paths and habits the fake has. */
  as?: "doku" | "bri";
  clientId: string;
  partnerId?: string;
  clientSecret: string;
  /** The gateway's public key, in PEM. */
  partnerPublicKey: string;
  /** The fake's private key, in PEM: it signs the requests for the gateway's tokens. */
  privateKey: string;
  /** Where notifications go: `…/acquirers/<code>/callbacks`. */
  callbackUrl?: string;
  port?: number;
  /** Refunds are accepted first and decided later. */
  refundsLater?: boolean;
}

/** The controls of SNAP's fake beside those of every fake. */
export interface SnapControl extends FakeControl {
  /** A payer types the number of an unregistered account: the fake asks the gateway for its bill. */
  inquire(accountNumber: string): Promise<{ status: number; body: Record<string, unknown> }>;
  /** A payer types such a number and pays the bill. */
  payAccount(accountNumber: string, change?: { amountMinor?: number; times?: number }): Promise<void>;
  /** Switches whether refunds are accepted first and decided later. */
  refundsLater(later: boolean): void;
  /** Number of tokens that the fake has issued. */
  tokens(): number;
}

const paths = {
  doku: {
    "/authorization/v1/access-token/b2b": "73",
    "/virtual-accounts/bi-snap-va/v1.1/transfer-va/create-va": "27",
    "/orders/v1.0/transfer-va/status": "26",
    "/virtual-accounts/bi-snap-va/v1.1/transfer-va/delete-va": "31",
    "/snap-adapter/b2b/v1.0/qr/qr-mpm-generate": "47",
    "/snap-adapter/b2b/v1.0/qr/qr-mpm-query": "51",
    "/snap-adapter/b2b/v1.0/qr/qr-mpm-refund": "78",
    "/direct-debit/core/v1/debit/payment-host-to-host": "05",
    "/orders/v1.0/debit/status": "55",
    "/direct-debit/core/v1/debit/refund": "58",
  },
  bri: {
    "/snap/v1.0/access-token/b2b": "73",
    "/snap/v1.0/transfer-va/create-va": "27",
    "/snap/v1.0/transfer-va/status": "26",
    "/snap/v1.0/transfer-va/delete-va": "31",
  },
} as const;

const REMEMBERED_MAX = 10_000;
const TOKEN_MS = 900_000;
const CLOCK_MS = 300_000;

export async function snapFake(options: SnapFakeOptions): Promise<Fake & { control: SnapControl }> {
  const fake = new SnapFake(options);
  const url = await fake.server.listen(options.port);
  return { url, control: fake, deliveries: fake.server.deliveries, close: () => fake.server.close() };
}

class SnapFake implements SnapControl {
  readonly server: FakeServer;
  private readonly options: SnapFakeOptions;
  private readonly orders: Orders;
  private readonly services: Readonly<Record<string, string>>;
  private readonly given = new Map<string, number>();
  /** The bodies and answers of earlier requests, by day, path and X-EXTERNAL-ID. */
  private readonly answered = new Map<string, { body: string; answer: FakeAnswer }>();
  private ownToken: { token: string; until: number } | undefined;
  private tokenCount = 0;

  constructor(options: SnapFakeOptions) {
    this.options = options;
    this.services = paths[options.as ?? "doku"];
    this.orders = new Orders(options.as ?? "doku", options.refundsLater === true);
    const isToken = ({ path }: FakeRequest): boolean => this.services[path] === "73" || path.startsWith("/_fake/");
    this.server = new FakeServer((request) => this.handle(request), { spared: isToken });
  }

  async pay(key: string, change: Parameters<FakeControl["pay"]>[1] = {}): Promise<void> {
    const order = this.orders.find(key);
    const {
      amountMinor = order.amountMinor,
      currency = "IDR",
      times = 1,
      notify = true,
      order: sequence = "normal",
    } = change;
    if (this.options.as === "bri" && amountMinor !== order.amountMinor)
      throw new NotApplicable("an account takes the amount that it was made for, and no other");
    this.orders.pay(order, amountMinor, currency);
    if (!notify || this.options.callbackUrl === undefined) return;
    const notices = this.noticesOf(order);
    if (sequence === "reversed") notices.reverse();
    for (let time = 0; time < times; time++) for (const [path, body] of notices) await this.deliver(path, body);
  }

  async fail(key: string): Promise<void> {
    const order = this.orders.find(key);
    if (order.isDeleted) throw new Error(`${key} was deleted`);
    order.status = "06";
    if (order.kind === "va" || this.options.callbackUrl === undefined) return;
    for (const [path, body] of this.noticesOf(order).slice(-1)) await this.deliver(path, body);
  }

  async expire(key: string): Promise<void> {
    const order = this.orders.find(key);
    if (order.kind !== "va") order.status = "05";
  }

  async decideRefund(key: string, status: "succeeded" | "failed"): Promise<void> {
    this.orders.refund(key).status = status === "succeeded" ? "00" : "06";
  }

  fault: FakeControl["fault"] = (...fault) => this.server.fault(...fault);
  opened = (key: string): number => this.orders.opened(key);
  refunded = (key: string): number => this.orders.refunded(key);
  tokens = (): number => this.tokenCount;
  refundsLater = (later: boolean): void => {
    this.orders.refundsLater = later;
  };

  async inquire(accountNumber: string): Promise<{ status: number; body: Record<string, unknown> }> {
    const body = {
      ...split(accountNumber),
      inquiryRequestId: randomBytes(8).toString("hex"),
      additionalInfo: { channel: "VA" },
    };
    const { status, body: text } = await this.deliver("/v1.1/transfer-va/inquiry", body);
    return { status, body: JSON.parse(text) as Record<string, unknown> };
  }

  async payAccount(
    accountNumber: string,
    { amountMinor, times = 1 }: { amountMinor?: number; times?: number } = {},
  ): Promise<void> {
    const { status, body } = await this.inquire(accountNumber);
    if (status !== 200) throw new Error(`${accountNumber} has no bill: ${JSON.stringify(body)}`);
    const { totalAmount, trxId } = body.virtualAccountData as { totalAmount: { value: string }; trxId: string };
    const paid = amountMinor ?? Math.round(Number(totalAmount.value) * 100);
    const notice = {
      ...split(accountNumber),
      trxId,
      paymentRequestId: randomBytes(8).toString("hex"),
      paidAmount: money(paid),
    };
    for (let time = 0; time < times; time++) await this.deliver("/v1.1/transfer-va/payment", notice);
  }

  private async handle(request: FakeRequest): Promise<FakeAnswer> {
    const own = await controlled(this, request);
    if (own) return own;
    const service = this.services[request.path];
    if (service === undefined || request.method !== (service === "31" ? "DELETE" : "POST"))
      return { status: 404, body: { message: "Not Found" } };
    const body = parsed(request.body);
    if (body === undefined) return refusal(400, service, "00", "Bad Request");
    if (service === "73") return this.giveToken(request, body);
    const objection = this.objectionTo(request, service);
    if (objection) return objection;
    if (request.fault === "key revoked") return refusal(401, service, "00", "Unauthorized. Key not Found");
    if (request.fault === "refuse") return refusal(403, service, "15", "Transaction Not Permitted");
    return this.once(request, service, () => this.orders.handle(service, body, request.fault));
  }

  /** A repeated X-EXTERNAL-ID on one day: DOKU gives the earlier answer with status 409 when the body is the same; a bank reports a conflict. */
  private once({ path, headers, body }: FakeRequest, service: string, work: () => FakeAnswer): FakeAnswer {
    const day = Math.floor((Date.now() + 7 * 3_600_000) / 86_400_000);
    const name = `${day} ${path} ${String(headers["x-external-id"])}`;
    const before = this.answered.get(name);
    if (before) {
      const isSame = before.body === body.toString() && this.options.as !== "bri";
      return isSame ? { status: 409, body: before.answer.body } : refusal(409, service, "00", "Conflict");
    }
    const answer = work();
    if (this.answered.size >= REMEMBERED_MAX) this.answered.clear();
    if (answer.status < 300) this.answered.set(name, { body: body.toString(), answer });
    return answer;
  }

  private giveToken({ headers }: FakeRequest, { grantType }: Record<string, unknown>): FakeAnswer {
    const { clientId, partnerPublicKey } = this.options;
    const { "x-client-key": key, "x-timestamp": timestamp, "x-signature": signature } = headers;
    const verifier = createVerify("RSA-SHA256").update(`${String(key)}|${String(timestamp)}`);
    const isSigned = verifier.verify(partnerPublicKey, String(signature), "base64");
    if (key !== clientId || !isSigned || !isNow(timestamp)) return refusal(401, "73", "00", "Unauthorized. Signature");
    if (grantType !== "client_credentials") return refusal(400, "73", "01", "Invalid Field Format grantType");
    const accessToken = randomBytes(24).toString("base64url");
    this.tokenCount++;
    this.given.set(accessToken, Date.now() + TOKEN_MS);
    if (this.given.size > REMEMBERED_MAX) this.given.clear();
    const responseMessage = "Successful";
    return {
      status: 200,
      body: { responseCode: "2007300", responseMessage, accessToken, tokenType: "Bearer", expiresIn: 900 },
    };
  }

  private objectionTo({ method, headers, target, body }: FakeRequest, service: string): FakeAnswer | undefined {
    const { clientSecret, clientId, partnerId = clientId } = this.options;
    const { authorization = "", "x-timestamp": timestamp, "x-signature": signature, "x-external-id": id } = headers;
    const token = authorization.replace(/^Bearer /, "");
    if ((this.given.get(token) ?? 0) < Date.now()) return refusal(401, service, "01", "Invalid Token (B2B)");
    const digest = createHash("sha256").update(body).digest("hex");
    const text = `${method}:${target}:${token}:${digest}:${String(timestamp)}`;
    const expected = createHmac("sha512", clientSecret).update(text).digest("base64");
    if (signature !== expected || !isNow(timestamp))
      return refusal(401, service, "00", "Unauthorized. Signature Not Match");
    if (headers["x-partner-id"] !== partnerId) return refusal(404, service, "16", "Partner Not Found");
    // DOKU's documentation demands digits, but its own client sends a UUID with additions; BRI demands up to nine digits.
    const form = this.options.as === "bri" ? /^\d{1,9}$/ : /^[\w-]{1,64}$/;
    if (!form.test(String(id))) return refusal(400, service, "01", "Invalid Field Format X-EXTERNAL-ID");
    // The documentation of wallet payments and of status inquiries does not demand a CHANNEL-ID.
    if (headers["channel-id"] === undefined && ["27", "31", "47", "51", "78"].includes(service))
      return refusal(400, service, "02", "Invalid Mandatory Field CHANNEL-ID");
    return undefined;
  }

  /** The notifications about an order, in their usual sequence. */
  private noticesOf(order: Order): [path: string, body: Record<string, unknown>][] {
    if (order.kind === "va") {
      const account = { ...order.account, virtualAccountName: order.name };
      if (this.options.as === "bri") {
        const additionalInfo = { paymentAmount: String(order.paid?.amountMinor ?? 0) };
        const paymentRequestId = order.paid?.id ?? "";
        return [["/snap/v1.0/transfer-va/notify-payment-intrabank", { ...account, paymentRequestId, additionalInfo }]];
      }
      const { id = "", amountMinor = 0, currency = "IDR" } = order.paid ?? {};
      const paidAmount = { ...money(amountMinor), currency };
      const info = { channel: order.channel, senderName: "Toru Yamashita" };
      return [
        [
          "/v1/transfer-va/payment",
          { ...account, trxId: order.reference, paymentRequestId: id, paidAmount, additionalInfo: info },
        ],
      ];
    }
    const path = order.kind === "qris" ? "/v1.0/qr/qr-mpm-notify" : "/v1.0/debit/notify";
    const notice = (latestTransactionStatus: string): [string, Record<string, unknown>] => [
      path,
      {
        originalPartnerReferenceNo: order.reference,
        originalReferenceNo: order.theirs,
        latestTransactionStatus,
        transactionStatusDesc: latestTransactionStatus === "00" ? "Success" : "Pending",
        amount: { ...money(order.paid?.amountMinor ?? order.amountMinor), currency: order.paid?.currency ?? "IDR" },
      },
    ];
    return [notice("03"), notice(order.status)];
  }

  /** Sends a message to the gateway under the gateway's token, signed as DOKU signs: with the client secret. */
  private async deliver(path: string, content: Record<string, unknown>): Promise<{ status: number; body: string }> {
    const { callbackUrl = "", clientSecret, clientId, partnerId = clientId } = this.options;
    const url = new URL(callbackUrl.replace(/\/$/, "") + path);
    const token = await this.gatewayToken();
    const body = JSON.stringify(content);
    const timestamp = new Date().toISOString();
    const digest = createHash("sha256").update(body).digest("hex");
    const text = `POST:${url.pathname}${url.search}:${token}:${digest}:${timestamp}`;
    const headers = {
      "content-type": "application/json",
      authorization: `Bearer ${token}`,
      "x-timestamp": timestamp,
      "x-signature": createHmac("sha512", clientSecret).update(text).digest("base64"),
      "x-partner-id": partnerId,
      "x-external-id": String(Date.now()) + String(randomBytes(2).readUInt16BE()),
      "channel-id": "VA004",
    };
    return await this.server.notify(url.href, headers, body);
  }

  private async gatewayToken(): Promise<string> {
    if (this.ownToken && this.ownToken.until > Date.now()) return this.ownToken.token;
    const { callbackUrl = "", clientId, privateKey } = this.options;
    const timestamp = new Date().toISOString();
    const signature = createSign("RSA-SHA256").update(`${clientId}|${timestamp}`).sign(privateKey, "base64");
    const answer = await fetch(`${callbackUrl.replace(/\/$/, "")}/authorization/v1/access-token/b2b`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-client-key": clientId,
        "x-timestamp": timestamp,
        "x-signature": signature,
      },
      body: '{"grantType":"client_credentials"}',
      signal: AbortSignal.timeout(5_000),
    });
    const { accessToken, expiresIn } = (await answer.json()) as { accessToken?: string; expiresIn?: string };
    if (accessToken === undefined) throw new Error(`the gateway gave no token: ${answer.status}`);
    this.ownToken = { token: accessToken, until: Date.now() + (Number(expiresIn) - 60) * 1_000 };
    return accessToken;
  }
}

function refusal(status: number, service: string, which: string, message: string): FakeAnswer {
  return { status, body: { responseCode: `${status}${service}${which}`, responseMessage: message } };
}

function parsed(body: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function isNow(timestamp: unknown): boolean {
  return typeof timestamp === "string" && Math.abs(Date.parse(timestamp) - Date.now()) <= CLOCK_MS;
}

/** Splits an account number into company code and customer number. Only the bank knows where the code ends; the fake takes five digits. */
function split(accountNumber: string): Record<string, string> {
  const [service, customerNo] = [accountNumber.slice(0, 5), accountNumber.slice(5)];
  const partnerServiceId = service.padStart(8, " ");
  return { partnerServiceId, customerNo, virtualAccountNo: partnerServiceId + customerNo };
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const given = JSON.parse(process.argv[2] ?? "{}") as SnapFakeOptions;
  const { url } = await snapFake(given);
  console.log(JSON.stringify({ url }));
}
