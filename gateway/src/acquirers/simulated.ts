// Four simulated acquirers of the sandbox. They differ in methods, prices and limits, and need no outside account. The metadata field
// `sandbox.scenario` makes them answer with an error, not answer, or decide a payment without a payer.
import { setTimeout } from "node:timers/promises";
import { wireTime } from "../ground/clock.ts";
import { digestOf } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import { DEFAULT_CURRENCY, currencyCodes } from "../ground/money.ts";
import { remembered } from "../ground/remembered.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import {
  type Acquirer,
  type AcquirerCalls,
  AcquirerRefused,
  type Capability,
  type InstructionRequest,
  type Instructions,
  type ReportedState,
} from "./acquirer.ts";
import { type QrisRequest, qrisString } from "./qris.ts";

interface Bank {
  code: string;
  name: string;
  /** Prefix of the sandbox's virtual accounts at this bank. */
  prefix: string;
  digits: number;
}

const banks = {
  bca: { code: "014", name: "Bank Central Asia", prefix: "39010", digits: 18 },
  bni: { code: "009", name: "Bank Negara Indonesia", prefix: "8808", digits: 16 },
  bri: { code: "002", name: "Bank Rakyat Indonesia", prefix: "26215", digits: 18 },
  mandiri: { code: "008", name: "Bank Mandiri", prefix: "88608", digits: 16 },
  permata: { code: "013", name: "Bank Permata", prefix: "8625", digits: 16 },
} as const satisfies Record<string, Bank>;

/** Derives `count` decimal digits from the reference alone, so that a payment always gets the same ones. */
function digitsOf(reference: string, purpose: string, count: number): string {
  const number = BigInt(`0x${digestOf(purpose, reference).toString("hex").slice(0, 32)}`);
  return (number % 10n ** BigInt(count)).toString().padStart(count, "0");
}

type MerchantNumbers = Pick<QrisRequest, "nationalMerchantId" | "merchantPan" | "merchantId">;
const numbered = new Map<string, MerchantNumbers>();
const NUMBERED_MAX = 10_000;

/** The merchant's numbers at a bank. All payments of a merchant share them, so they are cached. */
function merchantNumbers(bank: Bank, merchantName: string): MerchantNumbers {
  return remembered(numbered, NUMBERED_MAX, `${bank.code} ${merchantName}`, () => ({
    nationalMerchantId: `ID10${digitsOf(merchantName, "nmid", 11)}`,
    merchantPan: `93600${bank.code}${digitsOf(merchantName, "pan", 10)}`,
    merchantId: digitsOf(merchantName, "merchant", 15),
  }));
}

function accountName(merchantName: string): string {
  return [...merchantName.toUpperCase()].slice(0, 40).join("").trim();
}

interface Profile {
  code: string;
  name: string;
  domain: string;
  bank: Bank;
  capabilities: Capability[];
}

function simulated(profile: Profile): Acquirer {
  return {
    code: profile.code,
    name: profile.name,
    environment: "sandbox",
    capabilities: profile.capabilities,
    remote: false,
    issue: (request) => (asked.has(scenarioOf(request)) ? undefined : instructionsOf(profile, request)),
    inquiresAfterMs: (request) => (decided.has(scenarioOf(request)) ? DECISION_MS : undefined),
    refundsLater: (payment) => scenarioOf(payment) === "slow",
    calls: simulatedCalls(profile),
  };
}

/** Scenarios in which the simulator behaves like a remote acquirer that must be called. */
const asked: ReadonlySet<string> = new Set(["gateway_error", "gateway_error_once", "gateway_timeout", "slow"]);
/** Scenarios that the simulator decides without a payer. */
const decided: ReadonlyMap<string, "paid" | "failed"> = new Map([
  ["auto_success", "paid"],
  ["decline", "failed"],
]);
export const scenarios: readonly string[] = [...asked, ...decided.keys()];
/** Delay after which the simulator has decided. */
const DECISION_MS = 1_000;
/** Duration of a call in the scenario `slow`. */
const SLOW_MS = 300;

function scenarioOf({ metadata }: { metadata: Readonly<Record<string, string>> | undefined }): string {
  return metadata?.["sandbox.scenario"] ?? "";
}

/** A simulator's calls. They never leave this process, and the answers follow from the request alone. */
function simulatedCalls(profile: Profile): AcquirerCalls {
  const nobody = (): Promise<never> => Promise.reject(new AcquirerRefused(`${profile.code} takes no such call`));
  return {
    deadlineMs: 2_000,
    async open(request, signal) {
      const scenario = scenarioOf(request);
      if (scenario === "gateway_error" || (scenario === "gateway_error_once" && request.round === 0))
        throw new AcquirerRefused(`${profile.code} answers with an error, as the scenario asks`);
      if (scenario === "gateway_timeout") await silence(signal);
      if (scenario === "slow") await setTimeout(SLOW_MS, undefined, { signal });
      return { instructions: instructionsOf(profile, request) };
    },
    inquire(request) {
      const { amountMinor, currency } = request;
      const receipt = { transactionId: `auto-${request.operationKey}`.slice(0, 64), amountMinor, currency };
      const status = decided.get(scenarioOf(request)) ?? "waiting";
      const state: ReportedState = status === "paid" ? { status, receipt } : { status };
      return Promise.resolve({ known: true, instructions: instructionsOf(profile, request), state });
    },
    refund: nobody,
    inquireRefund: nobody,
    receive() {
      throw new Fault("ROUTE_NOT_FOUND");
    },
  };
}

/** Never resolves: rejects when `signal` aborts. */
function silence(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

function instructionsOf(profile: Profile, request: InstructionRequest): Instructions {
  const expires_at = wireTime(request.expiresAt);
  const { bank } = profile;
  switch (request.method) {
    case "qris": {
      const value = qrisString({
        amountMinor: request.amountMinor,
        merchantName: request.merchantName,
        city: "Jakarta",
        postalCode: "10110",
        categoryCode: "5999",
        acquirerDomain: profile.domain,
        ...merchantNumbers(bank, request.merchantName),
        billNumber: request.reference.slice(-25).toUpperCase(),
      });
      return { type: "qr_string", value, expires_at, qr_string: value };
    }
    case "va": {
      const value = bank.prefix + digitsOf(request.reference, "va", bank.digits - bank.prefix.length);
      return { type: "va_number", value, expires_at, ...bankFields(bank, value, request.merchantName) };
    }
    case "bank_transfer": {
      const value = bank.prefix.slice(0, 3) + digitsOf(profile.code, "account", 7);
      const transfer_code = `GB${digitsOf(request.reference, "transfer", 14)}`;
      return {
        type: "bank_account",
        value,
        expires_at,
        ...bankFields(bank, value, request.merchantName),
        transfer_code,
      };
    }
    case "card":
    case "ewallet":
      return { type: "redirect", value: request.payUrl, expires_at, redirect_url: request.payUrl };
  }
}

function bankFields(bank: Bank, account_number: string, merchantName: string): Record<string, string> {
  return { bank_name: bank.name, bank_code: bank.code, account_number, account_name: accountName(merchantName) };
}

const AMOUNT_MAX = 999_999_999_999n;

function takes(
  method: PaymentMethod,
  basisPoints: number,
  flatMinor: bigint,
  { currencies = [DEFAULT_CURRENCY], maximumMinor = AMOUNT_MAX }: Partial<Capability> = {},
): Capability {
  return { method, currencies, minimumMinor: 1n, maximumMinor, cost: { basisPoints, flatMinor } };
}

/** Cards are taken in every currency that a merchant may have. The flat part of the cost is rupiah, so other currencies have none. */
function takesCards(basisPoints: number, flatMinor: bigint): Capability[] {
  const others = currencyCodes.filter((code) => code !== DEFAULT_CURRENCY);
  return [takes("card", basisPoints, flatMinor), takes("card", basisPoints, 0n, { currencies: others })];
}

/** The simulated acquirers. `cendana` takes every method at a higher price, as the fallback when the others are down. */
export const simulatedAcquirers: readonly Acquirer[] = [
  simulated({
    code: "nusantara",
    name: "Nusantara QR",
    domain: "ID.CO.NUSANTARA.WWW",
    bank: banks.bca,
    capabilities: [takes("qris", 40, 0n), takes("va", 0, 250_000n)],
  }),
  simulated({
    code: "samudra",
    name: "Samudra Cards",
    domain: "ID.CO.SAMUDRA.WWW",
    bank: banks.mandiri,
    capabilities: [...takesCards(210, 100_000n), takes("ewallet", 110, 0n)],
  }),
  simulated({
    code: "merapi",
    name: "Merapi Transfer",
    domain: "ID.CO.MERAPI.WWW",
    bank: banks.bri,
    capabilities: [takes("bank_transfer", 0, 180_000n), takes("va", 0, 220_000n, { maximumMinor: 5_000_000_000n })],
  }),
  simulated({
    code: "cendana",
    name: "Cendana All-in-One",
    domain: "ID.CO.CENDANA.WWW",
    bank: banks.permata,
    capabilities: [
      takes("qris", 60, 0n),
      takes("va", 0, 320_000n),
      ...takesCards(260, 150_000n),
      takes("ewallet", 140, 0n),
      takes("bank_transfer", 0, 240_000n),
    ],
  }),
];
