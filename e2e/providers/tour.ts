// Sends one order through every acquirer, method, bank and wallet: starts the whole service and the fakes of all providers, and pays and
// refunds each payment.
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { channelsOf as midtransChannels } from "../../gateway/src/providers/midtrans/requests.ts";
import { bri } from "../../gateway/src/providers/snap/profiles/bri.ts";
import { doku } from "../../gateway/src/providers/snap/profiles/doku.ts";
import { bankNames, walletNames } from "../../gateway/src/providers/xendit/channels.ts";
import { Client, operate, settledLate } from "../kit/client.ts";
import { type Demo, Service, freePort } from "../kit/service.ts";
import type { Fake, FaultName } from "./fake.ts";
import { type MidtransControl, midtransFake } from "./midtrans/fake.ts";
import { type SnapControl, snapFake } from "./snap/fake.ts";
import { type StripeControl, stripeFake } from "./stripe/fake.ts";
import { type XenditControl, xenditFake } from "./xendit/fake.ts";

/** A path that an order can take: an entry of acquirers.json, a method, and a bank or wallet. */
export interface Way {
  code: "midtrans" | "xendit" | "doku" | "bri" | "stripe";
  method: string;
  channel?: string;
}

/** The connectors' channels, from their own lists, so that the tour covers a bank as soon as its connector supports it. */
const channelsOf: Readonly<Record<Way["code"], Readonly<Record<string, readonly string[]>>>> = {
  midtrans: {
    qris: midtransChannels("qris"),
    va: midtransChannels("va"),
    ewallet: midtransChannels("ewallet"),
    card: midtransChannels("card"),
  },
  xendit: { qris: [], va: bankNames, ewallet: walletNames, card: [] },
  doku: { va: namesOf(doku.virtualAccounts?.banks), qris: [], ewallet: namesOf(doku.wallets?.channels) },
  bri: { va: namesOf(bri.virtualAccounts?.banks) },
  stripe: { card: [] },
};

/** DOKU's banks with other numbering: "ours" takes numbers that the gateway registers; "asked" asks the gateway for each bill. */
const otherNumbers: Readonly<Record<string, "ours" | "asked">> = { bri: "ours", bni: "asked" };

function namesOf(channels: object | undefined): readonly string[] {
  return Object.keys(channels ?? {});
}

/** Every way, ordered by provider. */
export const ways: readonly Way[] = Object.entries(channelsOf).flatMap(([code, methods]) =>
  Object.entries(methods).flatMap(([method, channels]: [string, readonly string[]]) =>
    channels.length === 0
      ? [{ code: code as Way["code"], method }]
      : channels.map((channel) => ({ code: code as Way["code"], method, channel })),
  ),
);

/**
 * How much of a paid order can be refunded at once. Virtual accounts and OVO have no refund API; LinkAja and Midtrans' ShopeePay refund only
 * the whole amount; Midtrans' cards refund the whole amount on the first day, and parts later.
 */
export function givesBack({ code, method, channel }: Way): "nothing" | "all" | "a part" {
  if (method === "va" || channel === "ovo") return "nothing";
  const isMidtransWhole =
    code === "midtrans" && (method === "card" || (method === "ewallet" && channel === "shopeepay"));
  return isMidtransWhole || channel === "linkaja" ? "all" : "a part";
}

/** How a payment can be ended before its expiry. When the provider asks the gateway for bills, the gateway's answer ends the payment. */
export function endsBefore(way: Way): "at the provider" | "by our answer" | "never" {
  const { code, method } = way;
  if (code === "doku" && method !== "va") return "never";
  if (code === "midtrans" && method === "card") return "never";
  return isAsked(way) ? "by our answer" : "at the provider";
}

/** Whether the bank asks the gateway for the bill of each payment. */
function isAsked({ code, channel }: Way): boolean {
  return code === "doku" && otherNumbers[channel ?? ""] === "asked";
}

/** The result of an order that was paid and refunded. */
export interface Travelled extends Way {
  reference: string;
  /** The first instruction to the payer. */
  instruction: string;
  status: string;
  /** How the refund of the whole amount or a part ended. */
  refund: string;
}

/** The result of a cancelled order, and of a payer who tries to pay it afterwards. */
export interface Cancelled extends Way {
  reference: string;
  status: string;
  /** Whether the operator's log shows a call that ends the payment at the provider. */
  isCalled: boolean;
  late: "refused" | "taken";
}

const AMOUNT_MINOR = 1_500_000;
const PART_MINOR = 500_000;
const WAIT_MS = 200_000;
/** Poll interval. Each signature can be used only once, which limits how often a test client may ask. */
const POLL_MS = 400;

/** One fake for each provider, with the extra controls of each. */
type Fakes = Readonly<
  Record<Way["code"], Fake> &
    Record<"doku" | "bri", { control: SnapControl }> & {
      midtrans: { control: MidtransControl };
      xendit: { control: XenditControl };
      stripe: { control: StripeControl };
    }
>;

/** A service that is connected to the fakes of all providers. `stop` shuts all of them down. */
export class Tour {
  readonly service: Service;
  private readonly fakes: Fakes;
  private readonly folder: string;
  private routedTo: string | undefined;

  private constructor(service: Service, fakes: Fakes, folder: string) {
    this.service = service;
    this.fakes = fakes;
    this.folder = folder;
  }

  static async start(): Promise<Tour> {
    const folder = mkdtempSync(join(tmpdir(), "gerbang-providers-"));
    const secret = (name: string, text: string): { file: string } => {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      return { file: join(folder, name) };
    };
    const port = await freePort();
    const callbackUrl = (code: string): string => `http://localhost:${port}/acquirers/${code}/callbacks`;
    const pair = (): { publicKey: string; privateKey: string } =>
      generateKeyPairSync("rsa", {
        modulusLength: 2048,
        publicKeyEncoding: { type: "spki", format: "pem" },
        privateKeyEncoding: { type: "pkcs8", format: "pem" },
      });
    const [ours, theirs] = [pair(), pair()];
    const clientId = "BRN-0253-1758536533798";
    const fakes = {
      midtrans: await midtransFake({ serverKey: "SB-Mid-server-tour" }),
      xendit: await xenditFake({
        secretKey: "xnd_development_tour",
        callbackToken: "a token of the tour",
        callbackUrl: callbackUrl("xendit"),
      }),
      doku: await snapFake({
        clientId,
        clientSecret: "SK-of-the-tour",
        partnerPublicKey: ours.publicKey,
        privateKey: theirs.privateKey,
        callbackUrl: callbackUrl("doku"),
      }),
      bri: await snapFake({
        as: "bri",
        clientId,
        partnerId: "tour",
        clientSecret: "SK-of-the-tour",
        partnerPublicKey: ours.publicKey,
        privateKey: theirs.privateKey,
        callbackUrl: callbackUrl("bri"),
      }),
      stripe: await stripeFake({
        secretKey: "sk_test_tour",
        webhookSecrets: ["whsec_tour"],
        webhookUrl: callbackUrl("stripe"),
      }),
    };
    const entry = (code: Way["code"], provider: string, own: object): object => ({
      provider,
      code,
      name: code,
      environment: "sandbox",
      url: fakes[code].url,
      methods: Object.entries(channelsOf[code]).map(([method, channels]: [string, readonly string[]]) => ({
        method,
        ...(channels.length > 0 && { channels }),
        minimum_minor: 1_000_000,
        maximum_minor: 1_000_000_000,
        cost: { basis_points: 70, flat_minor: 0 },
      })),
      ...own,
    });
    const snapKeys = {
      client_id: clientId,
      client_secret: secret("snap", "SK-of-the-tour"),
      private_key: secret("ours.pem", ours.privateKey),
      provider_public_key: secret("theirs.pem", theirs.publicKey),
    };
    const entries = [
      entry("midtrans", "midtrans", { server_key: secret("midtrans", "SB-Mid-server-tour") }),
      entry("xendit", "xendit", {
        secret_key: secret("xendit", "xnd_development_tour"),
        callback_token: secret("xendit-token", "a token of the tour"),
      }),
      entry("doku", "snap", {
        profile: "doku",
        ...snapKeys,
        virtual_accounts: Object.fromEntries(
          namesOf(doku.virtualAccounts?.banks).map((bank, at) => [
            bank,
            { partner_service_id: String(19_001 + at), numbers: otherNumbers[bank] ?? "registered" },
          ]),
        ),
        qris: { merchant_id: "47435", terminal_id: "A01", postal_code: "12190" },
      }),
      entry("bri", "snap", {
        profile: "bri",
        ...snapKeys,
        partner_id: "tour",
        channel_id: "00009",
        virtual_accounts: { bri: { partner_service_id: "77777" } },
      }),
      entry("stripe", "stripe", {
        secret_key: secret("stripe", "sk_test_tour"),
        webhook_secret: secret("stripe-webhook", "whsec_tour"),
      }),
    ];
    const file = join(folder, "acquirers.json");
    writeFileSync(file, JSON.stringify(entries), { mode: 0o600 });
    const service = await Service.start({ port, env: { ACQUIRERS_FILE: file } });
    await operate(service.demo, "PATCH", `/merchants/${service.demo.merchant_id}`, {
      ...settledLate,
      rate_limit_per_minute: 100_000,
    });
    return new Tour(service, fakes, folder);
  }

  /** Creates an order, pays it at the provider, waits until the service sees the payment, and refunds it where the provider can. */
  async travel(client: Client, way: Way): Promise<Travelled> {
    const { reference, instruction } = await this.order(client, way);
    await this.pay(way, reference, instruction);
    const status = await this.until(client, `/v1/payments/${reference}`, (json) => json.status !== "pending");
    const back = givesBack(way);
    const refund = back === "nothing" ? "not by this way" : await this.giveBack(client, way.code, reference, back);
    return { ...way, reference, instruction, status, refund };
  }

  /** Creates an order, cancels it, waits for its end at the provider where there is one, and then lets a late payer try to pay. */
  async cancel(client: Client, way: Way): Promise<Cancelled> {
    const { reference, instruction } = await this.order(client, way);
    const { json, text } = await client.post(`/v1/payments/${reference}/cancel`, {});
    const { status } = json as { status?: string };
    if (status === undefined) throw new Error(`${reference} is not cancelled: ${text}`);
    const end = performance.now() + (endsBefore(way) === "at the provider" ? WAIT_MS : 0);
    let isCalled = await this.isCalledToEnd(reference);
    while (!isCalled && performance.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS / 4));
      isCalled = await this.isCalledToEnd(reference);
    }
    const late = await this.pay(way, reference, instruction).then(
      () => "taken" as const,
      () => "refused" as const,
    );
    return { ...way, reference, status, isCalled, late };
  }

  /** Whether the operator's log of the payment contains a call that ends it. */
  private async isCalledToEnd(reference: string): Promise<boolean> {
    const { messages } = (await operate(this.demo, "GET", `/payments/${reference}/acquirer`)) as {
      messages: { call: string }[];
    };
    return messages.some(({ call }) => call === "cancel");
  }

  private async order(client: Client, way: Way): Promise<{ reference: string; instruction: string }> {
    await this.routeTo(way.code);
    const created = await client.post("/v1/payments", {
      amount_minor: AMOUNT_MINOR,
      currency: "IDR",
      payment_method: way.method,
      reference_id: `${way.code}-${way.method}-${way.channel ?? "any"}`,
      ...(way.channel !== undefined && { metadata: { channel: way.channel } }),
    });
    if (created.status !== 201) throw new Error(`${way.code} ${way.method}: ${created.status} ${created.text}`);
    const { reference, instructions } = created.json as { reference: string; instructions?: { value?: string } };
    return { reference, instruction: instructions?.value ?? "" };
  }

  /** Pays as the payer. Throws when the provider rejects the payment. */
  private async pay(way: Way, reference: string, instruction: string): Promise<void> {
    if (isAsked(way)) await this.fakes.doku.control.payAccount(instruction);
    else await this.fakes[way.code].control.pay(this.keyOf(reference));
  }

  private async giveBack(
    client: Client,
    code: Way["code"],
    payment_reference: string,
    back: "all" | "a part",
  ): Promise<string> {
    const amount_minor = back === "all" ? AMOUNT_MINOR : PART_MINOR;
    const asked = await client.post("/v1/refunds", { payment_reference, amount_minor, reason: "tour" });
    if (asked.status !== 201) throw new Error(`no refund of ${payment_reference}: ${asked.text}`);
    const uuid = asked.json.uuid as string;
    const { control } = this.fakes[code];
    const key = this.keyOf(uuid);
    // Some providers refund at once; others wait until somebody there decides.
    const ended = await this.until(client, `/v1/refunds/${uuid}`, async ({ status }) => {
      if (status === "pending" && control.refunded(key) === 1) await control.decideRefund(key, "succeeded");
      return status !== "pending";
    });
    return `${back} ${ended}`;
  }

  /**
   * Refunds a part of a paid order in the provider's dashboard. Gives the kinds of reconciliation exceptions that are then open about the order,
   * and the payment's status in the service. An operator then closes the exceptions.
   */
  async refundElsewhere(client: Client, way: Travelled): Promise<{ kinds: string[]; status: string }> {
    if (way.code === "doku" || way.code === "bri") throw new Error(`${way.code} is not told to tell`);
    await this.fakes[way.code].control.refundElsewhere(this.keyOf(way.reference), PART_MINOR);
    let kinds: string[] = [];
    const path = `/v1/payments/${way.reference}`;
    const status = await this.until(
      client,
      path,
      async () => (kinds = await this.disagreements(way.reference)).length > 0,
    );
    for (const { uuid } of await this.openExceptions(way.reference))
      await operate(this.demo, "POST", `/reconciliation-exceptions/${uuid}/close`, { note: "Booked outside" });
    return { kinds, status };
  }

  /**
   * Pays a QRIS order whose next two inquiries are answered with another amount. Gives what operators are told and the status of the payment, first
   * while the provider says so and then when it says the right amount, and the operator's log.
   */
  async payOtherwise(client: Client, code: Way["code"]): Promise<{ told: [string[], string][]; messages: string }> {
    await this.routeTo(code);
    const reference_id = `paid otherwise ${randomUUID()}`;
    const order = { amount_minor: AMOUNT_MINOR, currency: "IDR", payment_method: "qris", reference_id };
    const { reference } = (await client.post("/v1/payments", order)).json as { reference: string };
    const { control } = this.fakes[code];
    control.fault("wrong amount", 2, "GET");
    await control.pay(this.keyOf(reference));
    const told: [string[], string][] = [];
    const path = `/v1/payments/${reference}`;
    const now = (): Promise<string[]> => this.disagreements(reference);
    const before = await this.until(client, path, async () => (await now()).length > 0);
    told.push([await now(), before]);
    const after = await this.until(client, path, ({ status }) => status === "succeeded");
    told.push([await now(), after]);
    return { told, messages: await this.messagesOf(reference) };
  }

  /** The kinds of the open reconciliation exceptions about a payment. */
  private async disagreements(reference: string): Promise<string[]> {
    return (await this.openExceptions(reference)).map(({ kind }) => kind);
  }

  private async openExceptions(reference: string): Promise<{ uuid: string; kind: string }[]> {
    const found = (await operate(this.demo, "GET", "/reconciliation-exceptions?status=open&limit=100")) as {
      data: { uuid: string; kind: string; operation: string }[];
    };
    return found.data.filter(({ operation }) => operation === reference);
  }

  /** The operator's log of what an acquirer answered about a payment. */
  private async messagesOf(reference: string): Promise<string> {
    const told = (await operate(this.demo, "GET", `/payments/${reference}/acquirer`)) as {
      messages: { text: string }[];
    };
    return told.messages.map(({ text }) => text).join("\n");
  }

  /**
   * Creates a QRIS order whose first answer has a fault. Gives the status of the payment as the merchant sees it, and the operator's log of the
   * acquirer's answers.
   */
  async meet(client: Client, code: Way["code"], fault: FaultName): Promise<{ status: string; messages: string }> {
    await this.routeTo(code);
    // Inquiries about earlier orders come at any moment: they read, and only the creation meets the fault.
    this.fakes[code].control.fault(fault, 1, "POST");
    const reference_id = `meets ${fault} ${randomUUID()}`;
    const order = { amount_minor: AMOUNT_MINOR, currency: "IDR", payment_method: "qris", reference_id };
    await client.post("/v1/payments", order);
    const { json } = await client.get(`/v1/payments?reference_id=${encodeURIComponent(reference_id)}`);
    const [payment] = json.data as { reference: string; status: string }[];
    if (!payment) throw new Error(`nothing was kept of the order that met ${fault}`);
    return { status: payment.status, messages: await this.messagesOf(payment.reference) };
  }

  async stop(): Promise<void> {
    await this.service.discard();
    await Promise.all(Object.values(this.fakes).map((fake) => fake.close()));
    rmSync(this.folder, { recursive: true });
  }

  private get demo(): Demo {
    return this.service.demo;
  }

  /** The operation key of the first call about a payment or refund of the demo merchant. */
  private keyOf(reference: string): string {
    return `${reference.replace("_", "")}.${this.demo.merchant_id.slice("mer_".length)}.s1`;
  }

  private async routeTo(code: string): Promise<void> {
    if (this.routedTo === code) return;
    const rules = [{ gateway_code: code, priority: 1, weight: 1 }];
    const { version } = await operate(this.demo, "POST", "/routing/rules", { rules });
    await operate(this.demo, "POST", `/routing/rules/${String(version)}/activate`);
    this.routedTo = code;
  }

  /** The status of an object as soon as `holds` accepts it, or the last status after WAIT_MS. */
  private async until(
    client: Client,
    path: string,
    holds: (json: { status: string }) => boolean | Promise<boolean>,
  ): Promise<string> {
    for (const end = performance.now() + WAIT_MS; ;) {
      const { status, json, text } = await client.get(path);
      if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
      if ((await holds(json as { status: string })) || performance.now() > end) return json.status as string;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}

if (import.meta.main) {
  console.log("Starting PostgreSQL, the service and the fakes of the providers …\n");
  const tour = await Tour.start();
  try {
    const client = new Client(tour.service.demo);
    const widths = [10, 9, 10, 12, 17] as const;
    const line = (...cells: string[]): void =>
      console.log(cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  "));
    line("provider", "method", "channel", "payment", "refund", "the payer is told");
    for (const way of ways) {
      const { code, method, channel = "", status, refund, instruction } = await tour.travel(client, way);
      line(code, method, channel, status, refund, instruction.slice(0, 60));
    }
  } finally {
    await tour.stop();
  }
}
