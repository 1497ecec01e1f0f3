// An order through every way of every provider, each bank and wallet of theirs: a whole service, fakes of all, one payment each, paid and
// given back.
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { channelsOf as midtransChannels } from "../../gateway/src/providers/midtrans/requests.ts";
import { bri } from "../../gateway/src/providers/snap/profiles/bri.ts";
import { doku } from "../../gateway/src/providers/snap/profiles/doku.ts";
import { bankNames, walletNames } from "../../gateway/src/providers/xendit/channels.ts";
import { Client, operate } from "../kit/client.ts";
import { type Demo, Service, freePort } from "../kit/service.ts";
import type { Fake, FaultName } from "./fake.ts";
import { type MidtransControl, midtransFake } from "./midtrans/fake.ts";
import { type SnapControl, snapFake } from "./snap/fake.ts";
import { type StripeControl, stripeFake } from "./stripe/fake.ts";
import { type XenditControl, xenditFake } from "./xendit/fake.ts";

/** Where an order goes: an entry of acquirers.json, a method and a bank or wallet. */
export interface Way {
  code: "midtrans" | "xendit" | "doku" | "bri" | "stripe";
  method: string;
  channel?: string;
}

/** What the connectors offer, from their own lists: a bank that one learns is visited, too. */
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

/** The banks of DOKU whose numbers are not its own: of one we register ours, and another asks us for each bill. */
const otherNumbers: Readonly<Record<string, "ours" | "asked">> = { bri: "ours", bni: "asked" };

function namesOf(channels: object | undefined): readonly string[] {
  return Object.keys(channels ?? {});
}

/** Every way, provider by provider. */
export const ways: readonly Way[] = Object.entries(channelsOf).flatMap(([code, methods]) =>
  Object.entries(methods).flatMap(([method, channels]: [string, readonly string[]]) =>
    channels.length === 0
      ? [{ code: code as Way["code"], method }]
      : channels.map((channel) => ({ code: code as Way["code"], method, channel })),
  ),
);

/**
 * What of an order can be given back at once: accounts and OVO give nothing back by their API; LinkAja and Midtrans' ShopeePay only all of
 * it; Midtrans' cards all of it on the first day, and a part later.
 */
export function givesBack({ code, method, channel }: Way): "nothing" | "all" | "a part" {
  if (method === "va" || channel === "ovo") return "nothing";
  const isMidtransWhole =
    code === "midtrans" && (method === "card" || (method === "ewallet" && channel === "shopeepay"));
  return isMidtransWhole || channel === "linkaja" ? "all" : "a part";
}

/** By which ways a provider ends a payment before its time. Of an account that it asks us about, our answer is the end. */
export function endsBefore(way: Way): "at the provider" | "by our answer" | "never" {
  const { code, method } = way;
  if (code === "doku" && method !== "va") return "never";
  if (code === "midtrans" && method === "card") return "never";
  return isAsked(way) ? "by our answer" : "at the provider";
}

/** Whether its bank asks us for the bill of each payment. */
function isAsked({ code, channel }: Way): boolean {
  return code === "doku" && otherNumbers[channel ?? ""] === "asked";
}

/** What became of one order. */
export interface Travelled extends Way {
  reference: string;
  /** What the payer was told first. */
  instruction: string;
  status: string;
  /** How giving it or a part of it back ended. */
  refund: string;
}

/** What became of an order that was cancelled, and of a payer who pays all the same. */
export interface Cancelled extends Way {
  reference: string;
  status: string;
  /** Whether the provider was called to end it, as the operator reads it. */
  isCalled: boolean;
  late: "refused" | "taken";
}

const AMOUNT_MINOR = 1_500_000;
const PART_MINOR = 500_000;
const WAIT_MS = 15_000;
/** The signature of a request is used once: so often a client of tests may ask. */
const POLL_MS = 400;

/** One of each; those of SNAP can ask us for a bill, too. */
type Fakes = Readonly<
  Record<Way["code"], Fake> &
    Record<"doku" | "bri", { control: SnapControl }> & {
      midtrans: { control: MidtransControl };
      xendit: { control: XenditControl };
      stripe: { control: StripeControl };
    }
>;

/** A service that speaks to all of them, and their fakes. `stop` takes everything down. */
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
    await operate(service.demo, "PATCH", `/merchants/${service.demo.merchant_id}`, { rate_limit_per_minute: 100_000 });
    return new Tour(service, fakes, folder);
  }

  /** One order: made, paid at the provider, seen paid here, and given back where the provider can. */
  async travel(client: Client, way: Way): Promise<Travelled> {
    const { reference, instruction } = await this.order(client, way);
    await this.pay(way, reference, instruction);
    const status = await this.until(client, `/v1/payments/${reference}`, (json) => json.status !== "pending");
    const back = givesBack(way);
    const refund = back === "nothing" ? "not by this way" : await this.giveBack(client, way.code, reference, back);
    return { ...way, reference, instruction, status, refund };
  }

  /** One order: made, cancelled, ended at the provider where it does that, and then paid by a payer who is late. */
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

  /** Whether an operator reads, in what was said of a payment, that its end was asked for. */
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

  /** The payer pays. Throws where the provider takes no money for it. */
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
    // Some providers give money back at once, and others when somebody there has decided it.
    const ended = await this.until(client, `/v1/refunds/${uuid}`, async ({ status }) => {
      if (status === "pending" && control.refunded(key) === 1) await control.decideRefund(key, "succeeded");
      return status !== "pending";
    });
    return `${back} ${ended}`;
  }

  /**
   * A paid order of which somebody gives a part back in the provider's dashboard. Gives what an operator then finds open about it, and how
   * the payment stands here.
   */
  async refundElsewhere(client: Client, way: Travelled): Promise<{ kinds: string[]; status: string }> {
    if (way.code === "doku" || way.code === "bri") throw new Error(`${way.code} is not told to tell`);
    await this.fakes[way.code].control.refundElsewhere(this.keyOf(way.reference), PART_MINOR);
    const open = async (): Promise<string[]> => {
      const found = (await operate(this.demo, "GET", "/reconciliation-exceptions?status=open&limit=100")) as {
        data: { kind: string; operation: string }[];
      };
      return found.data.filter(({ operation }) => operation === way.reference).map(({ kind }) => kind);
    };
    let kinds: string[] = [];
    const path = `/v1/payments/${way.reference}`;
    const status = await this.until(client, path, async () => (kinds = await open()).length > 0);
    return { kinds, status };
  }

  /**
   * An order by QRIS whose first answer goes wrong. Gives the payment as the merchant sees it then, and what an operator reads of what was
   * said.
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
    const told = (await operate(this.demo, "GET", `/payments/${payment.reference}/acquirer`)) as {
      messages: { text: string }[];
    };
    return { status: payment.status, messages: told.messages.map(({ text }) => text).join("\n") };
  }

  async stop(): Promise<void> {
    await this.service.discard();
    await Promise.all(Object.values(this.fakes).map((fake) => fake.close()));
    rmSync(this.folder, { recursive: true });
  }

  private get demo(): Demo {
    return this.service.demo;
  }

  /** Our name for the first call about a payment or refund of the demo merchant. */
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

  /** The status of an object once it is as it should be, or the last one seen in time. */
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
