// An order through every method of every provider: a whole service, the fakes of all four, one payment each, paid and given back.
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, operate } from "../kit/client.ts";
import { type Demo, Service, freePort } from "../kit/service.ts";
import type { Fake } from "./fake.ts";
import { midtransFake } from "./midtrans/fake.ts";
import { snapFake } from "./snap/fake.ts";
import { stripeFake } from "./stripe/fake.ts";
import { xenditFake } from "./xendit/fake.ts";

/** Where an order goes: an entry of acquirers.json, a method and a bank or wallet. */
export interface Way {
  code: "midtrans" | "xendit" | "doku" | "stripe";
  method: string;
  channel?: string;
}

const channelsOf = {
  midtrans: {
    qris: ["gopay"],
    va: ["bca", "bni", "bri", "permata", "cimb", "mandiri"],
    ewallet: ["gopay", "shopeepay"],
    card: [],
  },
  xendit: {
    qris: [],
    va: ["bca", "bni", "bri", "mandiri", "permata"],
    ewallet: ["dana", "linkaja", "shopeepay", "ovo"],
    card: [],
  },
  doku: { va: ["bca", "bri"], qris: [], ewallet: ["dana", "shopeepay"] },
  stripe: { card: [] },
} as const satisfies Record<Way["code"], Record<string, readonly string[]>>;

/** Every way, provider by provider. */
export const ways: readonly Way[] = Object.entries(channelsOf).flatMap(([code, methods]) =>
  Object.entries(methods).flatMap(([method, channels]: [string, readonly string[]]) =>
    channels.length === 0
      ? [{ code: code as Way["code"], method }]
      : channels.map((channel) => ({ code: code as Way["code"], method, channel })),
  ),
);

/**
 * Whether a part of an order can be given back at once. Accounts and OVO give nothing back by their API, LinkAja and Midtrans' ShopeePay only
 * all of it, and Midtrans' cards a part only on the next day.
 */
export function givesBack({ code, method, channel }: Way): boolean {
  const wholeOnly = channel === "linkaja" || (code === "midtrans" && channel === "shopeepay");
  const later = code === "midtrans" && method === "card";
  return method !== "va" && !later && channel !== "ovo" && !wholeOnly;
}

/** What became of one order. */
export interface Travelled extends Way {
  reference: string;
  /** What the payer was told first. */
  instruction: string;
  status: string;
  /** How giving a part of it back ended. */
  refund: string;
}

const AMOUNT = 1_500_000;
const WAIT_MS = 15_000;
/** The signature of a request is used once: so often a client of tests may ask. */
const POLL_MS = 400;

/** A service that speaks to all four, and their fakes. `stop` takes everything down. */
export class Tour {
  readonly service: Service;
  private readonly fakes: Readonly<Record<Way["code"], Fake>>;
  private readonly folder: string;
  private routedTo: string | undefined;

  private constructor(service: Service, fakes: Readonly<Record<Way["code"], Fake>>, folder: string) {
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
    const entries = [
      entry("midtrans", "midtrans", { server_key: secret("midtrans", "SB-Mid-server-tour") }),
      entry("xendit", "xendit", {
        secret_key: secret("xendit", "xnd_development_tour"),
        callback_token: secret("xendit-token", "a token of the tour"),
      }),
      entry("doku", "snap", {
        profile: "doku",
        client_id: clientId,
        client_secret: secret("doku", "SK-of-the-tour"),
        private_key: secret("ours.pem", ours.privateKey),
        provider_public_key: secret("theirs.pem", theirs.publicKey),
        virtual_accounts: {
          bca: { partner_service_id: "19008", customer_prefix: "0" },
          bri: { partner_service_id: "13925", customer_prefix: "6", numbers: "ours" },
        },
        qris: { merchant_id: "47435", terminal_id: "A01", postal_code: "12190" },
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
    await this.routeTo(way.code);
    const { control } = this.fakes[way.code];
    const created = await client.post("/v1/payments", {
      amount_minor: AMOUNT,
      currency: "IDR",
      payment_method: way.method,
      reference_id: `${way.code}-${way.method}-${way.channel ?? "any"}`,
      ...(way.channel !== undefined && { metadata: { channel: way.channel } }),
    });
    if (created.status !== 201) throw new Error(`${way.code} ${way.method}: ${created.status} ${created.text}`);
    const { reference, instructions: told } = created.json;
    await control.pay(this.keyOf(reference as string));
    const status = await this.until(client, `/v1/payments/${reference as string}`, (json) => json.status !== "pending");
    const refund = givesBack(way) ? await this.giveBack(client, way.code, reference as string) : "not by this way";
    return { ...way, reference: reference as string, instruction: String(told?.value ?? ""), status, refund };
  }

  private async giveBack(client: Client, code: Way["code"], payment_reference: string): Promise<string> {
    const asked = await client.post("/v1/refunds", { payment_reference, amount_minor: 500_000, reason: "tour" });
    if (asked.status !== 201) throw new Error(`no refund of ${payment_reference}: ${asked.text}`);
    const uuid = asked.json.uuid as string;
    const { control } = this.fakes[code];
    const key = this.keyOf(uuid);
    // Some providers give money back at once, and others when somebody there has decided it.
    const ended = await this.until(client, `/v1/refunds/${uuid}`, async ({ status }) => {
      if (status === "pending" && control.refunded(key) === 1) await control.decideRefund(key, "succeeded");
      return status !== "pending";
    });
    return ended;
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
  console.log("Starting PostgreSQL, the service and the fakes of four providers …\n");
  const tour = await Tour.start();
  try {
    const client = new Client(tour.service.demo);
    const widths = [10, 9, 10, 12, 17] as const;
    const line = (...cells: string[]): void =>
      console.log(cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  "));
    line("provider", "method", "channel", "payment", "refund of a part", "the payer is told");
    for (const way of ways) {
      const { code, method, channel = "", status, refund, instruction } = await tour.travel(client, way);
      line(code, method, channel, status, refund, instruction.slice(0, 60));
    }
  } finally {
    await tour.stop();
  }
}
