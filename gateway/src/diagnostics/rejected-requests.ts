// Diagnoses rejected signatures of sandbox clients after the answer, and stores the diagnosis without the request. A flood of bad
// signatures costs little time: requests beyond the limits are dropped without a diagnosis.
import { setTimeout as pause } from "node:timers/promises";
import { type Clock, type Micros, SECOND, stopwatchMs } from "../ground/clock.ts";
import { FixedWindow } from "../ground/fixed-window.ts";
import type { Vault } from "../ground/crypto.ts";
import type { Log } from "../ground/log.ts";
import type { Client } from "../merchants/directory.ts";
import { readMerchantSecrets } from "../merchants/merchant-secrets.ts";
import type { Database } from "../store/database.ts";
import { diagnoseMessage } from "./message-diagnosis.ts";
import { type SecretsAtHand, diagnose } from "./signature-diagnosis.ts";
import type { RejectedRequest } from "../http/edge.ts";
import { type Diagnosed, insertDiagnoses, trimDiagnoses } from "./rejected-requests.sql.ts";

const WAITING_MAX = 100;
const WAITING_BYTES_MAX = 4 * 1024 * 1024;
const PER_CLIENT_AND_SECOND = 3;
const BATCH_MAX = 20;
/** After each diagnosis the loop pauses for this multiple of its duration, so that other work has the processor. */
const REST = 4;

interface Waiting extends RejectedRequest {
  refusedAt: Micros;
}

interface RejectedRequestParts {
  database: Database;
  vault: Vault;
  clock: Clock;
  log: Log;
}

export class RejectedRequests {
  private readonly parts: RejectedRequestParts;
  private queue: Waiting[] = [];
  private bytes = 0;
  private readonly seconds = new FixedWindow(SECOND);
  private working: Promise<void> | undefined;
  private stopped = false;

  constructor(parts: RejectedRequestParts) {
    this.parts = parts;
  }

  /** Queues a rejected request of a sandbox client if the queue has a place. Returns at once. */
  note(refusal: RejectedRequest): void {
    const { client, request } = refusal;
    if (this.stopped || client.book.environment !== "sandbox") return;
    if (this.queue.length >= WAITING_MAX || this.bytes + sizeOf(request) > WAITING_BYTES_MAX) return;
    const refusedAt = this.parts.clock.now();
    if (this.seconds.count(client.clientId, refusedAt) > PER_CLIENT_AND_SECOND) return;
    this.queue.push({ ...refusal, refusedAt });
    this.bytes += sizeOf(request);
    this.working ??= this.work().finally(() => (this.working = undefined));
  }

  /** Drops the queue and resolves when the running diagnosis has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.queue = [];
    await this.working;
  }

  private async work(): Promise<void> {
    await pause(0); // lets the answer be sent first
    while (this.queue.length > 0) {
      const found: Diagnosed[] = [];
      for (let next = this.queue.shift(); next; next = found.length < BATCH_MAX ? this.queue.shift() : undefined) {
        this.bytes -= sizeOf(next.request);
        const diagnosed = await this.trying(this.look(next));
        if (diagnosed) found.push(diagnosed);
      }
      if (found.length > 0) await this.trying(this.keep(found));
    }
  }

  /** Logs an error instead of throwing it: a missing diagnosis harms no request. */
  private async trying<T>(work: Promise<T>): Promise<T | undefined> {
    try {
      return await work;
    } catch (error) {
      this.parts.log.warn({ err: error }, "a refused signature was not looked into");
      return undefined;
    }
  }

  private async look({ requestId, client, request, refusedAt }: Waiting): Promise<Diagnosed> {
    const { clientId, merchant } = client;
    const { database, vault } = this.parts;
    const { credentials, webhooks } = await readMerchantSecrets(database, vault, merchant.merchantId);
    const own = credentials.find((credential) => credential.clientId === clientId);
    if (own === undefined) throw new Error(`the credential ${clientId} is gone`);
    const others = credentials.filter((credential) => credential.clientId !== clientId);
    const begun = stopwatchMs();
    const secrets: SecretsAtHand = {
      own: own.secret,
      live: others.filter(({ revoked }) => !revoked).map(({ secret }) => secret),
      revoked: others.filter(({ revoked }) => revoked).map(({ secret }) => secret),
      webhooks: [...credentials.map(({ listener }) => listener), ...webhooks.flatMap(({ secrets: all }) => all)],
    };
    const found = whatWasWrong(client, request, secrets, Math.floor(refusedAt / SECOND));
    await pause(Math.ceil((stopwatchMs() - begun) * REST));
    return { merchantId: merchant.merchantId, requestId, refusedAt, ...found };
  }

  private async keep(batch: readonly Diagnosed[]): Promise<void> {
    await this.parts.database.query(insertDiagnoses(batch));
    await this.parts.database.query(trimDiagnoses([...new Set(batch.map(({ merchantId }) => merchantId))]));
  }
}

function whatWasWrong(
  { clientId, signature }: Client,
  request: RejectedRequest["request"],
  secrets: SecretsAtHand,
  receivedAt: number,
): Pick<Diagnosed, "diagnosis" | "subject" | "base"> {
  if (request.scheme === "rfc9421") return diagnoseMessage(request, secrets, receivedAt);
  if (signature === "rfc9421") return { diagnosis: "rfc9421_demanded" };
  return { diagnosis: diagnose({ ...request, clientId, receivedAt }, secrets) };
}

/** Upper bound of a request's headers, which count in full for message signatures, because all headers may be signed. */
const HEADERS_BYTES_MAX = 16_384;

function sizeOf(request: RejectedRequest["request"]): number {
  return request.body.length + (request.scheme === "rfc9421" ? HEADERS_BYTES_MAX : 0);
}
